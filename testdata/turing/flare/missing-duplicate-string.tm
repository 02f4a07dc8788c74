turing machine
// A word that is some word twice, with a 1 replaced by _.
input 0 1 _
blank .
start format
accept yes
// There is exactly one _.
format 0 1 -> format same R
format _ -> format1 same R
format1 0 1 -> format1 same R
format1 . -> begin same L
begin 0 1 _ -> begin same L
begin . -> left same R
// Mark symbols at both ends in turn: 0, 1 and _ become a, b and c in the first half, and A, B and C in the second.
left 0 -> right a R
left 1 -> right b R
left _ -> right c R
left A B C -> rewind same L
right 0 1 _ -> right same R
right A B C . -> mark same L
mark 0 -> back A L
mark 1 -> back B L
mark _ -> back C L
back 0 1 _ -> back same L
back a b c -> left same R
rewind a b c -> rewind same L
rewind . -> take same R
// Compare the halves. Symbols that were compared become x and y.
take x -> take same R
take a -> to0 x R
take b c -> to1 x R
take y -> yes same S
to0 a b c y -> to0 same R
to1 a b c y -> to1 same R
to0 A -> return y L
to1 B C -> return y L
return a b c y -> return same L
return x -> take same R

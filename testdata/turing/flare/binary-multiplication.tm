turing machine
// Two numbers and their product, in binary with the lowest digit first, and perhaps zeros at the end. For each digit of the
// first number that is 1, the second is subtracted from the product. Then the lowest digit of the product must be 0, and is
// left out from then on, so that the next digit counts twice as much.
input 0 1 × =
blank _
start format
accept yes
format 0 1 -> format1 same R
format1 0 1 -> format1 same R
format1 × -> format2 same R
format2 0 1 -> format3 same R
format3 0 1 -> format3 same R
format3 = -> format4 same R
format4 0 1 -> format5 same R
format5 0 1 -> format5 same R
format5 _ -> rewind same L
rewind 0 1 × = x -> rewind same L
rewind _ -> digit same R
// The next digit of the first number.
digit x -> digit same R
digit 0 -> skip x R
digit 1 -> go x R
digit × -> rest same R
go 0 1 -> go same R
go × -> next0 same R
// Subtract: the digits of the second number become a and b, and those of the product c and d, as long as they are in use. The
// state has the borrow, and then what is to be subtracted from the digit: 0, 1 or 2.
next0 a b -> next0 same R
next0 0 -> sub0 a R
next0 1 -> sub1 b R
next0 = -> borrow0 same R
borrow0 x c d -> borrow0 same R
next1 a b -> next1 same R
next1 0 -> sub1 a R
next1 1 -> sub2 b R
next1 = -> borrow1 same R
borrow1 x c d -> borrow1 same R
sub0 0 1 -> sub0 same R
sub0 = -> at0 same R
at0 x c d -> at0 same R
sub1 0 1 -> sub1 same R
sub1 = -> at1 same R
at1 x c d -> at1 same R
sub2 0 1 -> sub2 same R
sub2 = -> at2 same R
at2 x c d -> at2 same R
at0 0 -> return0 c L
at0 1 -> return0 d L
at1 0 -> return1 d L
at1 1 -> return0 c L
at2 0 -> return1 c L
at2 1 -> return1 d L
at0 _ -> return0 same L
return0 x c d = 0 1 a b -> return0 same L
return1 x c d = 0 1 a b -> return1 same L
return0 × -> next0 same R
return1 × -> next1 same R
// The second number is used up. A borrow goes on through the product, which has to be large enough.
borrow0 0 1 _ -> restore same L
borrow1 0 -> borrow1 d R
borrow1 1 -> restore 0 L
restore x = 0 1 -> restore same L
restore a -> restore 0 L
restore b -> restore 1 L
restore c -> restore 0 L
restore d -> restore 1 L
restore × -> skip2 same R
// Leave out the lowest digit of the product, which must be 0.
skip 0 1 -> skip same R
skip × -> skip2 same R
skip2 0 1 -> skip2 same R
skip2 = -> low same R
low x -> low same R
low 0 -> rewind x L
low _ -> rewind same L
// The first number is used up: what is left of the product must be 0.
rest 0 1 -> rest0 same R
rest0 0 1 -> rest0 same R
rest0 = -> rest1 same R
rest1 x 0 -> rest1 same R
rest1 _ -> yes same S

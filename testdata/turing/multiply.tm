turing machine
// Multiplies two unary numbers: of 1 1 x 1 1 1 =, it makes 1 1 x 1 1 1 = 1 1 1 1 1 1.
input 1 x =
blank _
start next
accept done
next 1 -> over a R           // take a one of the first factor
next x -> restore same L
over 1 -> over same R
over x -> take same R
take 1 -> append b R         // take a one of the second factor
take = -> back same L
append 1 = -> append same R
append _ -> return 1 L
return 1 = -> return same L
return b -> take b R
back b -> back 1 L
back 1 x -> back same L
back a -> next a R
restore a -> restore 1 L
restore _ -> done _ R

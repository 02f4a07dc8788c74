turing machine
// A word and its reversal.
input 0 1
blank _
start next
accept yes
next _ -> yes same S
next 0 -> to0 _ R
next 1 -> to1 _ R
to0 0 1 -> to0 same R
to1 0 1 -> to1 same R
to0 _ -> match0 same L
to1 _ -> match1 same L
match0 0 -> back _ L
match1 1 -> back _ L
back 0 1 -> back same L
back _ -> next same R

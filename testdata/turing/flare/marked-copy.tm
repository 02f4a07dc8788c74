turing machine
// A word, #, and the same word again. Matched symbols become x, those after # become y.
input 0 1 #
blank _
start next
accept yes
next 0 -> to0 x R
next 1 -> to1 x R
next # -> last same R
to0 0 1 -> to0 same R
to1 0 1 -> to1 same R
to0 # -> match0 same R
to1 # -> match1 same R
match0 y -> match0 same R
match1 y -> match1 same R
match0 0 -> back y L
match1 1 -> back y L
back y # 0 1 -> back same L
back x -> next same R
last y -> last same R
last _ -> yes same S

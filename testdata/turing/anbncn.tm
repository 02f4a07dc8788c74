turing machine
// Accepts n times a, n times b and n times c, for n above 0.
input a b c
blank _
start next
accept yes
next a -> to_b X R
next Y -> verify Y R
to_b a Y -> to_b same R
to_b b -> to_c Y R
to_c b Z -> to_c same R
to_c c -> back Z L
back a b Y Z -> back same L
back X -> next X R
verify Y Z -> verify same R
verify _ -> yes _ S

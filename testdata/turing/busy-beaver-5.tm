turing machine
// The champion with five states (Marxen and Buntrock, 1990): 47,176,870 steps, 4,098 ones.
blank 0
start A
A 0 -> B 1 R
A 1 -> C 1 L
B 0 -> C 1 R
B 1 -> B 1 R
C 0 -> D 1 R
C 1 -> E 0 L
D 0 -> A 1 L
D 1 -> D 1 L
E 0 -> H 1 R
E 1 -> A 0 L

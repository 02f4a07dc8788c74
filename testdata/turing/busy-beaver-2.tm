turing machine
// The champion with two states: 6 steps, 4 ones.
blank 0
start A
A 0 -> B 1 R
A 1 -> B 1 L
B 0 -> A 1 L
B 1 -> H 1 R

turing machine
// The champion with three states for the number of steps: 21 steps, 5 ones.
blank 0
start A
A 0 -> B 1 R
A 1 -> H 1 R
B 0 -> B 1 L
B 1 -> C 0 R
C 0 -> C 1 L
C 1 -> A 1 L

turing machine
// Adds one to a binary number, whose first digit is the highest.
input 0 1
blank _
start right
accept done
right 0 1 -> right same R
right _ -> carry _ L
carry 1 -> carry 0 L
carry 0 _ -> done 1 S

turing machine
// A transducer: reads bits, and writes for each whether the number of ones so far is even or odd.
input 0 1
blank _
start even
accept even
even 0 -> even 0 R : e
even 1 -> odd 1 R : o
odd 0 -> odd 0 R : o
odd 1 -> even 1 R : e

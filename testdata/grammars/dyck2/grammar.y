// Balanced brackets of two kinds, not empty.
%start S
%%
S: B | S B;
B: '(' ')' | '(' S ')' | '[' ']' | '[' S ']';

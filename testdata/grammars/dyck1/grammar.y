// Balanced brackets of one kind, not empty.
%start S
%%
S: B | S B;
B: '(' ')' | '(' S ')';

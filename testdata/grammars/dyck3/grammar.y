// Balanced brackets of three kinds, not empty.
%start S
%%
S: B | S B;
B: '(' ')' | '(' S ')' | '[' ']' | '[' S ']' | '{' '}' | '{' S '}';

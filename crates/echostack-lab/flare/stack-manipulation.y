// A stack from the bottom up, operations on it, a mark, and the resulting stack from the top down. What is pushed and
// popped again is Undone; Popped is a symbol of the first stack with everything up to its pop.
%start S
%%
S: Ops | Popped Ops | '0' S '0' | '1' S '1';
Popped: '0' Undone 'POP' | '0' Popped Undone 'POP' | '1' Undone 'POP' | '1' Popped Undone 'POP';
Ops: Undone '#' | Undone 'PUSH' '0' Ops '0' | Undone 'PUSH' '1' Ops '1';
Undone: | Undone 'PUSH' '0' Undone 'POP' | Undone 'PUSH' '1' Undone 'POP';

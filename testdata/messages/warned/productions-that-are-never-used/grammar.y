%expect-rr 2
%%
S: A | B | C;
A: 'a';
B: 'a';
C: 'a';

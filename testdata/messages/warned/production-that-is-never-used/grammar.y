%expect-rr 2
%%
S: A | B;
A: 'a';
B: 'a';

%expect 1
%%
S: A 'x' | B 'y' | B 'x';
A: 'a';
B: 'a';

%%
S: A 'x' | B 'x';
A: 'a';
B: 'a';

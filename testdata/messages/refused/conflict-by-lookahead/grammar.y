%%
S: A 'x' 'y' | B 'x' 'z';
A: 'a';
B: 'a';

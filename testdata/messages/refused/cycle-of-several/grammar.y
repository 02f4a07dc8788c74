%%
S: A;
A: B;
B: A | 'x';

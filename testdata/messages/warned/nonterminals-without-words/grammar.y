%%
S: 'a' | 'b' T;
T: 'd' U;
U: 'e' T;

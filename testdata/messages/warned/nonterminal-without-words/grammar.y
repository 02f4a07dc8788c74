%%
S: 'a' | 'b' T;
T: 'd' T;

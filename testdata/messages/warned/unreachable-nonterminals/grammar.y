%%
S: 'a';
T: U;
U: 'b';

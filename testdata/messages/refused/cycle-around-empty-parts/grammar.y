%%
S: 'b' T;
T: E T E | 'a';
E: %empty | 'e';

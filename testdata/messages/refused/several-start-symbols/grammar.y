%start S T
%%
S: 'a' T;
T: 'b';

%start S
%start T
%%
S: 'a' T;
T: 'b';

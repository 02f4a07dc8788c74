%start S
%%
T: 'a';

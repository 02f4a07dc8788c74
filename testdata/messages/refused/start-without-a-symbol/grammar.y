%start
%%
S: 'a';

%token S
%%
S: 'a';

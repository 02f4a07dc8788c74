%token IF WORD
%%
S: IF WORD;

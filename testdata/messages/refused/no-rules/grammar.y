%token A
%%

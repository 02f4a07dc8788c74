%token A
%%
S: A;

%token A B
%%
S: A;

%token A B C
%%
S: A;

%token A "x" B "x"
%%
S: A B;

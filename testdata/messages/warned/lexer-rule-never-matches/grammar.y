%token IF NAME
%%
S: IF NAME;

%token 258 NUM
%%
S: NUM;

%left 258 NUM
%%
S: NUM;

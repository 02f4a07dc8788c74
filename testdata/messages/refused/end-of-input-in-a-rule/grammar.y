%token END 0
%%
S: 'a' END;

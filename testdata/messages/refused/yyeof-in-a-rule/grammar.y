%%
S: 'a' YYEOF;

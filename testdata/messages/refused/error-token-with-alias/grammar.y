%token error "oops"
%%
S: 'a' "oops" | 'b';

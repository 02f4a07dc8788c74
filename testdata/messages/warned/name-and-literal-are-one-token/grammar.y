%token n
%%
S: n 'x' | 'n' 'y';

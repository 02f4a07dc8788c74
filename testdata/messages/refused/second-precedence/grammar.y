%left '+'
%right '+'
%%
S: S '+' 'n' | 'n';

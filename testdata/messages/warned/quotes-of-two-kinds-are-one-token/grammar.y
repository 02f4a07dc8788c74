%nonassoc "<"
%%
E: E '<' E | 'n';

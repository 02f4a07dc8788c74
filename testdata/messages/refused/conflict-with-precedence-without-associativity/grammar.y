%precedence '+'
%%
S: S '+' S | 'x';

%expect 0
%%
S: 'if' S | 'if' S 'else' S | 'x';

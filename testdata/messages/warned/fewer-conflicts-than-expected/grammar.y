%expect 3
%%
S: 'if' S | 'if' S 'else' S | 'x';

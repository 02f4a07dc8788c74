%%
S: 'if' S | 'if' S 'else' S | 'x';

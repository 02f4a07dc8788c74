%%
S: 'a' S | U;
U: S 'b';

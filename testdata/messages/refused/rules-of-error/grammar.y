%%
S: 'a';
error: 'b';

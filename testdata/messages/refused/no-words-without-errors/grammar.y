%%
S: error 'a';

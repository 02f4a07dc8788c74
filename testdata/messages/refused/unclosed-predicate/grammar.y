%%
S: %?{ is_new 'a';

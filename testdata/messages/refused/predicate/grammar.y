%%
S: 'a' %?{ is_new } 'b';

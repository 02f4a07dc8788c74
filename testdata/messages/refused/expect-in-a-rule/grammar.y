%%
S: 'a' %expect 1;

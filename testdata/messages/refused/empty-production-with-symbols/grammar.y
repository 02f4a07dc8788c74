%%
S: 'a' %empty;

%%
S: 'a' %prec;

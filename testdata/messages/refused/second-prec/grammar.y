%%
S: 'a' %prec 'b' %prec 'c';

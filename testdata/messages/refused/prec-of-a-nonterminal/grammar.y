%%
S: 'a' %prec S;

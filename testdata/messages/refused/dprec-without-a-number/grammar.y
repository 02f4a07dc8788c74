%%
S: 'a' %dprec;

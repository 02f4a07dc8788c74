%expect some
%%
S: 'a';

%define lr.type lr0
%%
S: 'a';

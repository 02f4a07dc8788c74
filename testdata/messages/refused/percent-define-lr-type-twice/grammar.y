%define lr.type lalr
%define lr.type ielr
%%
S: 'a';

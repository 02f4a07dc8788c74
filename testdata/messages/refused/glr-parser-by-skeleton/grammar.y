%skeleton "./glr.cc"
%expect 1
%%
S: A 'b' | 'a' 'b' 'c';
A: 'a';

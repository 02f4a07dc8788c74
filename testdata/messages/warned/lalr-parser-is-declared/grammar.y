%define lr.type lalr
%expect-rr 2
%%
S: 'a' A 'd' | 'b' B 'd' | 'a' B 'e' | 'b' A 'e';
A: 'c';
B: 'c';

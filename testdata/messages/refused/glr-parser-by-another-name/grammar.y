%nondeterministic-parser
%expect 1
%%
S: A 'b' | 'a' 'b' 'c';
A: 'a';

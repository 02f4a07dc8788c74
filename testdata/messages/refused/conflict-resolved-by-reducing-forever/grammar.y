%expect 2
%left 'c'
%left HIGH
%%
S: A S 'b' | 'c' | 'd';
A: %empty %prec HIGH;

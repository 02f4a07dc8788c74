// As many a as b, the a first, at least one.
%start S
%%
S: 'a' 'b' | 'a' S 'b';

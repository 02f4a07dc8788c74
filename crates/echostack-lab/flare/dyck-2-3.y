// Brackets of two kinds, nested at most three deep.
%start S
%%
S: | S '(0' Two ')0' | S '(1' Two ')1';
Two: | Two '(0' One ')0' | Two '(1' One ')1';
One: | One '(0' ')0' | One '(1' ')1';

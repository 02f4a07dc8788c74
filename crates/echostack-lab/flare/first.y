// Words that begin with 1.
%start S
%%
S: '1' | S '0' | S '1';

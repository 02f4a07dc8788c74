// Any number of times 0 1.
%start S
%%
S: | S '0' '1';

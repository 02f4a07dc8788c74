// Words with an odd number of 1s.
%start S
%%
S: Even '1' | S '0';
Even: | Even '0' | S '1';

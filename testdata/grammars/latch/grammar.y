// Words of 0 and 1 with an odd number of ones.
%start Odd
%%
Odd: Even '1' | Odd '0';
Even: | Even '0' | Odd '1';

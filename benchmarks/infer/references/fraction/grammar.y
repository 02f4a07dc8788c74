// What fractions.Fraction reads: an integer, a decimal number or a ratio, with spaces around it.
%start Fraction
%%
Fraction: 'INTEGER' | 'DECIMAL' | 'RATIO';

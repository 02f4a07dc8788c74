// Palindromes over a and b with the centre marked by $.
%start S
%%
S: '$' | 'a' S 'a' | 'b' S 'b';

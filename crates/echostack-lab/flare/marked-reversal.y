// A word, a mark, and the word reversed.
%start S
%%
S: '#' | '0' S '0' | '1' S '1';

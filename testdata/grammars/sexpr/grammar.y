// S-expressions: any number of data; lists, dotted pairs, quotes, vectors.
%start Data
%%
Data: | Data Datum;
Datum: 'ATOM' | 'STRING' | Quote Datum | '(' Data ')' | '(' Data Datum '.' Datum ')' | '#(' Data ')';
Quote: "'" | '`' | ',' | ',@';

// Search filters, as ldap3 reads them. After its first filter, `!` takes only compound ones.
%start Filter
%%
Filter: Simple | Compound;
Simple: '(' 'ITEM' ')';
Compound: '(' 'OPERATOR' Filters ')' | '(' '!' Negated ')';
Filters: Filter | Filters Filter;
Negated: Filter | Negated Compound;

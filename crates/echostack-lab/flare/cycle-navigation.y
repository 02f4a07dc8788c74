// Steps on a cycle of five places, forward, backward and none, and then the place where they end.
%start S
%%
S: At0 '0' | At1 '1' | At2 '2' | At3 '3' | At4 '4';
At0: | At0 '=' | At4 '>' | At1 '<';
At1: At1 '=' | At0 '>' | At2 '<';
At2: At2 '=' | At1 '>' | At3 '<';
At3: At3 '=' | At2 '>' | At4 '<';
At4: At4 '=' | At3 '>' | At0 '<';

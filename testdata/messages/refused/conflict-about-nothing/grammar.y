%%
S: A | B;
A: %empty;
B: %empty;

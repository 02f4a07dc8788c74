%%
S: S 'x' ';' | S error ';' | %empty;

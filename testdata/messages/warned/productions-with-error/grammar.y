%%
lines: %empty | lines line;
line: 'x' ';' | error ';' | 'y' bad;
bad: error;

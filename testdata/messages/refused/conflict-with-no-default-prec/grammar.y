%left 'x'
%%
S: S 'x' S | 'y';
%no-default-prec;

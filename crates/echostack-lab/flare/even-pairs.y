// Words whose first and last symbols are equal, and the empty word. XY stands for words from X to Y.
%start S
%%
S: | ZZ | OO;
ZZ: '0' | ZZ '0' | ZO '0';
ZO: ZZ '1' | ZO '1';
OO: '1' | OO '1' | OZ '1';
OZ: OO '0' | OZ '0';

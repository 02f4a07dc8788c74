// CSV as RFC 4180 describes it: records of fields, quoted or not, lines ended by a line break; the last one may lack it.
%start File
%%
File: Record | File 'NEWLINE' Record;
Record: Field | Record ',' Field;
Field: | 'PLAIN' | 'QUOTED';

// JSON as RFC 8259 defines it.
%start Value
%%
Value: 'STRING' | 'NUMBER' | 'true' | 'false' | 'null' | '{' '}' | '{' Members '}' | '[' ']' | '[' Elements ']';
Members: Member | Members ',' Member;
Member: 'STRING' ':' Value;
Elements: Value | Elements ',' Value;

// A programming language the size of Lua 5.1.
%start Chunk
%%
Chunk: Block;
Block: Statements | Statements Last;
Statements: | Statements Statement | Statements Statement ';';
Last: 'return' | 'return' ';' | 'return' Expressions | 'return' Expressions ';' | 'break' | 'break' ';';
Statement: 'do' Block 'end'
    | 'while' Expression 'do' Block 'end'
    | 'repeat' Block 'until' Expression
    | 'if' Expression 'then' Block Else 'end'
    | 'for' 'NAME' '=' Expression ',' Expression 'do' Block 'end'
    | 'for' 'NAME' '=' Expression ',' Expression ',' Expression 'do' Block 'end'
    | 'for' Names 'in' Expressions 'do' Block 'end'
    | 'function' FunctionName Body
    | 'local' 'function' 'NAME' Body
    | 'local' Names
    | 'local' Names '=' Expressions
    | 'let' Variables '=' Expressions
    | 'call' Call;
Else: | 'else' Block | 'elseif' Expression 'then' Block Else;
FunctionName: Dotted | Dotted ':' 'NAME';
Dotted: 'NAME' | Dotted '.' 'NAME';
Names: 'NAME' | Names ',' 'NAME';
Variables: Variable | Variables ',' Variable;
Expressions: Expression | Expressions ',' Expression;
Expression: Or;
Or: And | Or 'or' And;
And: Comparison | And 'and' Comparison;
Comparison: Concat | Comparison '<' Concat | Comparison '>' Concat | Comparison '<=' Concat | Comparison '>=' Concat | Comparison '~=' Concat | Comparison '==' Concat;
Concat: Sum | Sum '..' Concat;
Sum: Product | Sum '+' Product | Sum '-' Product;
Product: Unary | Product '*' Unary | Product '/' Unary | Product '%' Unary;
Unary: Power | 'not' Unary | '#' Unary | '-' Unary;
Power: Simple | Simple '^' Unary;
Simple: 'nil' | 'true' | 'false' | 'NUMBER' | 'STRING' | '...' | 'function' Body | Constructor | Prefix;
Prefix: Variable | Call | '(' Expression ')';
Variable: 'NAME' | Prefix '[' Expression ']' | Prefix '.' 'NAME';
Call: Prefix Arguments | Prefix ':' 'NAME' Arguments;
Arguments: '(' ')' | '(' Expressions ')' | Constructor | 'STRING';
Body: '(' ')' Block 'end' | '(' Parameters ')' Block 'end';
Parameters: Names | Names ',' '...' | '...';
Constructor: '{' '}' | '{' Fields '}' | '{' Fields Separator '}';
Fields: Item | Fields Separator Item;
Separator: ',' | ';';
Item: '[' Expression ']' '=' Expression | 'NAME' '=' Expression | Expression;

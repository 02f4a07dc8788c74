// A small imperative language with functions and arrays: 55 productions.
%start Program
%%
Program: Declarations;
Declarations: | Declarations Declaration;
Declaration: 'fn' 'NAME' '(' Parameters ')' Block | Variable;
Parameters: | ParameterList;
ParameterList: 'NAME' | ParameterList ',' 'NAME';
Variable: 'let' 'NAME' '=' Expression ';';
Block: '{' Statements '}';
Statements: | Statements Statement;
Statement: Variable
    | 'NAME' '=' Expression ';'
    | 'if' '(' Expression ')' Block Else
    | 'while' '(' Expression ')' Block
    | 'return' Expression ';'
    | 'return' ';'
    | 'break' ';'
    | 'print' Expressions ';'
    | Block;
Else: | 'else' Block;
Expression: Conjunction | Expression 'or' Conjunction;
Conjunction: Comparison | Conjunction 'and' Comparison;
Comparison: Sum | Sum '==' Sum | Sum '<' Sum | Sum '>' Sum;
Sum: Product | Sum '+' Product | Sum '-' Product;
Product: Unary | Product '*' Unary | Product '/' Unary;
Unary: Postfix | '-' Unary | 'not' Unary;
Postfix: Primary | Postfix '[' Expression ']' | Postfix '(' Arguments ')';
Primary: 'NAME' | 'NUMBER' | 'STRING' | 'true' | 'false' | '(' Expression ')' | '[' Arguments ']';
Arguments: | Expressions;
Expressions: Expression | Expressions ',' Expression;

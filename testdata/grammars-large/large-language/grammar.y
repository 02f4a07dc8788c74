// A typed imperative language with structures, enumerations, generics and closures: 127 productions.
%start Program
%%
Program: Imports Items;
Imports: | Imports 'import' Path ';';
Path: 'NAME' | Path '::' 'NAME';
Items: | Items Item;
Item: Function
    | 'struct' 'NAME' Generics '{' Fields '}'
    | 'enum' 'NAME' Generics '{' Variants '}'
    | 'impl' Type '{' Methods '}'
    | 'const' 'NAME' ':' Type '=' Expression ';';
Function: 'fn' 'NAME' Generics '(' Parameters ')' Result Block;
Generics: | '<' Names '>';
Names: 'NAME' | Names ',' 'NAME';
Result: | '->' Type;
Parameters: | ParameterList;
ParameterList: Parameter | ParameterList ',' Parameter;
Parameter: 'NAME' ':' Type;
Fields: | Fields Parameter ';';
Variants: Variant | Variants ',' Variant;
Variant: 'NAME' | 'NAME' '(' Types ')';
Methods: | Methods Function;
Types: Type | Types ',' Type;
Type: Path
    | Path '<' Types '>'
    | '[' Type ']'
    | '*' Type
    | '(' Types ')'
    | 'fn' '(' Types ')' '->' Type;
Block: '{' Statements '}';
Statements: | Statements Statement;
Statement: ';'
    | 'let' 'NAME' Annotation '=' Expression ';'
    | 'var' 'NAME' Annotation '=' Expression ';'
    | Expression ';'
    | Place Assignment Expression ';'
    | 'if' Condition Block Else
    | 'while' Condition Block
    | 'for' 'NAME' 'in' Condition Block
    | 'match' Condition '{' Cases '}'
    | 'try' Block 'catch' '(' Parameter ')' Block
    | 'return' Value ';'
    | 'break' ';'
    | 'continue' ';'
    | 'throw' Expression ';'
    | Block;
Annotation: | ':' Type;
Assignment: '=' | '+=' | '-=' | '*=' | '/=';
Else: | 'else' Block | 'else' 'if' Condition Block Else;
Condition: '(' Expression ')';
Cases: | Cases 'case' Pattern '=>' Block;
Pattern: '_' | Literal | 'NAME' | 'NAME' '(' Patterns ')';
Patterns: Pattern | Patterns ',' Pattern;
Value: | Expression;
Expression: Disjunction | Disjunction '?' Expression ':' Expression | 'lambda' '(' Parameters ')' '=>' Block;
Disjunction: Conjunction | Disjunction '||' Conjunction;
Conjunction: Equality | Conjunction '&&' Equality;
Equality: Relation | Equality '==' Relation | Equality '!=' Relation;
Relation: Sum | Relation '<' Sum | Relation '>' Sum | Relation '<=' Sum | Relation '>=' Sum;
Sum: Product | Sum '+' Product | Sum '-' Product;
Product: Unary | Product '*' Unary | Product '/' Unary | Product '%' Unary;
Unary: Postfix | '-' Unary | '!' Unary;
Postfix: Primary | Place;
Place: 'NAME' | Postfix '[' Expression ']' | Postfix '.' 'NAME' | '(' Expression ')';
Primary: Literal | Postfix '(' Arguments ')' | '[' Arguments ']' | 'new' Type '{' Initializers '}';
Literal: 'NUMBER' | 'STRING' | 'true' | 'false';
Arguments: | Expressions;
Expressions: Expression | Expressions ',' Expression;
Initializers: | InitializerList;
InitializerList: Initializer | InitializerList ',' Initializer;
Initializer: 'NAME' ':' Expression;

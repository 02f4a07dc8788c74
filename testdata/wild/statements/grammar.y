// A small language in the style of C: declarations, statements, and expressions with the usual precedences.
%require "3.0"
%defines
%define api.pure false
%locations
%code requires {
  typedef struct node node;
}
%code {
#include <stdio.h>
  struct node { int kind; node *left, *right; };
  static node *make(int kind, node *left, node *right);
  int yylex(void);
  static void yyerror(const char *message) { fprintf(stderr, "%d: %s\n", yylloc.first_line, message); }
}
%union { int number; const char *text; node *tree; }
%initial-action { @$.first_line = 1; /* { */ }

%token END 0 "end of file"
%token <text> IDENTIFIER "identifier" STRING "string"
%token <number> CONSTANT 300 "constant"
%token IF "if" ELSE "else" WHILE "while" FOR "for" RETURN "return" BREAK "break" CONTINUE "continue"
%token INT "int" CHAR "char" VOID "void" STRUCT "struct"
%token INVALID
%token LE "<=" GE ">=" EQ "==" NE "!=" AND "&&" OR "||" INC "++" DEC "--" ARROW "->"

%type <tree> statement statements expression assignment argument-list opt.expression
%printer { fprintf(yyo, "tree"); } <tree>

/* An else belongs to the nearest if: one conflict, which a shift resolves. */
%expect 1

%left "||"
%left "&&"
%left "==" "!="
%left '<' '>' "<=" ">="
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY
%precedence "++" "--" '[' '(' '.' "->"

%start program
%%
program : %empty | program external ;

external
  : function
  | declaration
  | STRUCT IDENTIFIER '{' members '}' ';'
  | error ';' { yyerrok; }
  | error '}'
  ;

members : declaration | members declaration ;

function
  : type declarator '(' ')' { make('f', 0, 0); } block
  | type declarator '(' parameters ')' block
  ;

parameters : parameter | parameters ',' parameter ;
parameter : type declarator ;

type : "int" | "char" | "void" | "struct" IDENTIFIER ;
declarator : IDENTIFIER | '*' declarator ;

declaration : type initialized ';' ;
initialized
  : declarator
  | declarator '=' assignment
  | declarator '[' CONSTANT ']'
  | initialized ',' declarator
  ;

block : '{' statements '}' ;
statements
  : %empty               { $$ = 0; }
  | statements statement { $$ = make(';', $1, $2); }
  | statements declaration
  ;

statement
  : opt.expression ';'
  | block                { $$ = 0; }
  | "if" '(' expression ')' statement { $$ = make('i', $3, $5); }
  | "if" '(' expression ')' statement "else" statement { $$ = make('e', make('i', $3, $5), $7); }
  | "while" '(' expression ')' statement { $$ = make('w', $3, $5); }
  | "for" '(' opt.expression[init] ';' opt.expression[test] ';' opt.expression[step] ')' statement[body]
    { $$ = make('o', make(',', $init, make(',', $test, $step)), $body); }
  | "return" opt.expression ';' { $$ = make('r', $2, 0); }
  | "break" ';'          { $$ = 0; }
  | "continue" ';'       { $$ = 0; }
  ;

opt.expression : %empty { $$ = 0; } | expression ;

expression
  : assignment
  | expression ',' assignment { $$ = make(',', $1, $3); }
  ;

assignment
  : operand              { $$ = 0; }
  | operand '=' assignment { $$ = $3; }
  ;

operand
  : IDENTIFIER | CONSTANT | STRING
  | '(' expression ')'
  | operand "||" operand | operand "&&" operand
  | operand "==" operand | operand "!=" operand
  | operand '<' operand | operand '>' operand | operand "<=" operand | operand ">=" operand
  | operand '+' operand | operand '-' operand
  | operand '*' operand | operand '/' operand | operand '%' operand
  | '-' operand %prec UNARY
  | '!' operand %prec UNARY
  | '*' operand %prec UNARY
  | '&' operand %prec UNARY
  | "++" operand %prec UNARY
  | "--" operand %prec UNARY
  | operand "++"
  | operand "--"
  | operand '[' expression ']'
  | operand '.' IDENTIFIER
  | operand "->" IDENTIFIER
  | operand '(' ')'
  | operand '(' argument-list ')'
  ;

argument-list
  : assignment
  | argument-list ',' assignment { $$ = make(',', $1, $3); }
  ;
%%
static node *make(int kind, node *left, node *right)
{
  static node nodes[100];
  nodes[kind % 100] = (node){ kind, left, right };
  return &nodes[kind % 100];
}

int main(void) { return yyparse() || yynerrs ? 1 : 0; }

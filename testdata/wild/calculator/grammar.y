/* A calculator with variables, functions and a loop. Values are doubles. */
%{
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol { char *name; double value; struct symbol *next; };
static struct symbol *symbols;

static double *lookup(const char *name);
int yylex(void);
static void yyerror(const char *message) { fprintf(stderr, "%s\n", message); }
/* A prologue may contain what looks like its end: "%}" */
%}

%define parse.error verbose
%union {
    double number;
    char *name;
    struct { int count; double sum; } list;
}

%token <number> NUMBER "number"
%token <name> NAME "name"
%token REPEAT "repeat" MAX "max"
%token ASSIGN ":="

%type <number> expr
%type <list> arguments
%destructor { free($$); } <name>

%precedence ":="
%left '+' '-'
%left '*' '/'
%precedence NEG   /* a sign */
%right '^'

%%

input
  : %empty
  | input line
  ;

line
  : '\n'
  | expr '\n'             { printf("%g\n", $1); }
  | "repeat" expr[times]  { printf("%d times {\n", (int)$times); }
    block '\n'            { printf("}\n"); }
  | error '\n'            { yyerrok; }
  ;

block: '{' input '}' ;

expr
  : NUMBER
  | NAME                  { $$ = *lookup($1); free($1); }
  | NAME ":=" expr        { *lookup($1) = $$ = $3; free($1); }
  | expr '+' expr         { $$ = $1 + $3; }
  | expr '-' expr         { $$ = $1 - $3; }
  | expr '*' expr         { $$ = $1 * $3; }
  | expr '/' expr         { if ($3 == 0) { yyerror("division by zero"); YYERROR; } else { $$ = $1 / $3; } }
  | expr[base] '^' expr[power] { $$ = pow($base, $power); }
  | '-' expr %prec NEG    { $$ = -$2; }
  | '(' expr ')'          { $$ = $2; }
  | "max" '(' arguments ')' { $$ = $3.count ? $3.sum : 0; }
  ;

arguments
  : expr                  { $$.count = 1; $$.sum = $1; }
  | arguments ',' expr    { $$.count = $1.count + 1; $$.sum = $3 > $1.sum ? $3 : $1.sum; }
  ;

%%

static double *lookup(const char *name)
{
    struct symbol *known;
    for (known = symbols; known; known = known->next)
        if (strcmp(known->name, name) == 0)
            return &known->value;
    known = malloc(sizeof *known);
    known->name = strcpy(malloc(strlen(name) + 1), name);
    known->value = 0;
    known->next = symbols;
    symbols = known;
    return &known->value;
}

int main(void) { int failed = yyparse() != 0; return failed || yynerrs > 0; }

// Queries over tables of records: `prices where cost > 3 and name like "a%" | sort by cost desc | take 10`.
%skeleton "yacc.c"
%define api.pure full
%define parse.error verbose
%lex-param   { struct reader *reader }
%parse-param { struct reader *reader }
%expect 0

%code requires
{
struct reader { int line; int queries; int errors; };
}

%{
#include <stdio.h>
%}

%union {
  double number;
  const char *text;
  int count;
}

%code
{
static int yylex(YYSTYPE *value, struct reader *reader);
static void yyerror(struct reader *reader, const char *text);
}

%token BAD_CHARACTER
%token <text> NAME "a name" PART "a part of a text"
%token <number> NUMBER "a number"
%token WHERE "where" SORT "sort" BY "by" ASCENDING "asc" DESCENDING "desc" TAKE "take" SKIP "skip"
%token SHOW "show" COUNT "count" GROUP "group" LET "let" WHEN "when" THEN "then" OTHERWISE "otherwise"
%token AND "and" OR "or" NOT "not" LIKE "like" IN "in" TRUE "true" FALSE "false"
%token EQUAL "==" UNEQUAL "!=" AT_MOST "<=" AT_LEAST ">=" ARROW "=>" RANGE ".."
%token OPEN_TEXT CLOSE_TEXT OPEN_HOLE "${" CLOSE_HOLE

%precedence "otherwise"
%left "or"
%left "and"
%precedence "not"
%nonassoc "==" "!=" '<' '>' "<=" ">=" "like" "in"
%nonassoc ".."
%left '+' '-'
%left '*' '/' '%'
%precedence SIGN
%precedence '.' '['

%type <count> stages fields keys arguments entries
%printer { fprintf(yyo, "%d", $$); } <count>

%%
file: definitions query { reader->queries++; } ;

definitions: definitions "let" NAME '=' value ';' | %empty

query: NAME stages { printf("%d\n", $stages); }

stages: %empty { $$ = 0; }
  | stages '|' { reader->queries += 0; } stage { $$ = $1 + 1; }
  | stages "where" value { $$ = $1 + 1; }

stage
  : "where" value
  | "sort" "by" keys { reader->queries += $keys; }
  | "take" NUMBER | "skip" NUMBER
  | "show" fields { reader->queries += $2; }
  | "group" "by" keys "show" fields { reader->queries += $3 + $5; }
  | "count"
  | '(' NAME stages ')' { reader->queries += $3; }
  | error

keys: key { $$ = 1; } | keys ',' key { $$ = $1 + 1; }
key: value direction
direction: %empty | "asc" | "desc"

fields: field { $$ = 1; } | fields ',' field { $$ = $1 + 1; }
field: value | NAME ':' value | '*'

value
  : NAME
  | NUMBER
  | text
  | "true" | "false"
  | '(' value ')'
  | '[' entries ']' { reader->queries += $2; }
  | NAME '(' ')'
  | NAME '(' arguments ')' { reader->queries += $3; }
  | NAME "=>" value %prec "otherwise"
  | "when" value "then" value "otherwise" value
  | value '.' NAME
  | value '[' value ']'
  | value "or" value | value "and" value | "not" value
  | value "==" value | value "!=" value | value '<' value | value '>' value
  | value "<=" value | value ">=" value
  | value "like" text | value "in" value
  | value ".." value
  | value '+' value | value '-' value
  | value '*' value | value '/' value | value '%' value
  | '-' value %prec SIGN
;
entries: %empty { $$ = 0; } | arguments ;
arguments: value { $$ = 1; } | arguments ',' value { $$ = $1 + 1; }

text: OPEN_TEXT parts CLOSE_TEXT ;
parts: %empty | parts PART | parts "${" value CLOSE_HOLE ;
%%
#include "lex.yy.c"

static void yyerror(struct reader *reader, const char *text)
{
  reader->errors++;
  fprintf(stderr, "%d: %s\n", reader->line, text);
}

int main(void)
{
  struct reader reader = { 1, 0, 0 };
  return yyparse(&reader) || reader.errors > 0;
}

/* Configuration files in the style of nginx: directives, blocks, variables and regular expressions. */
%language "C"
%defines
%define api.value.type union
%define parse.error detailed
%define lr.default-reduction accepting
%verbose

%code top {
#include <stdio.h>
}
%code provides {
int yylex(void);
void yyerror(const char *text);
}

%token <char *> WORD "word" VARIABLE "variable" TEXT "text" PATTERN "regular expression"
%token <int> SIZE "size"
%token OPEN_QUOTE CLOSE_QUOTE "closing quote"
%token SERVER "server" LOCATION "location" IF "if" UPSTREAM "upstream" INCLUDE "include" ON "on" OFF "off"
%token MATCH "~" NOT_MATCH "!~" IS "=" IS_NOT "!="

%nterm <int> value toggle
%nterm item

%%

file: items ;

items: items item | %empty ;

item
  : "word" values ';'
  | "include" value ';'           { puts("include"); }
  | "word" toggle ';'             { printf("%d\n", $2); }
  | "server" block
  | "upstream" "word" { puts("upstream"); } block
  | "location" modifier path { puts("location"); } block
  | "if" '(' condition ')' block
  | ';'
  | error ';'                     { yyerrok; }
  ;

block: '{' items '}' | '{' items error '}' { yyerrok; } ;

modifier: %empty | "=" | "~" ;
path: "word" | "regular expression" ;

toggle: "on" { $$ = 1; } | "off" { $$ = 0; } ;

values: value | values value ;

value
  : "word"              { $$ = 1; }
  | "size"
  | "variable"          { $$ = 2; }
  | OPEN_QUOTE parts CLOSE_QUOTE { $$ = 3; }
  ;

parts: %empty | parts "text" | parts "variable" ;

condition
  : "variable"
  | "variable" operator value
  ;

operator: "=" | "!=" | "~" | "!~" ;

%%

void yyerror(const char *text) { fprintf(stderr, "%s\n", text); }

int main(void) { return yyparse() || yynerrs; }

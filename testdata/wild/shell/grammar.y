/* A shell: pipelines, lists, redirections, functions and the usual compound commands. Lines matter. */
%code requires {
typedef struct command { struct command *next; int kind; } command;
}
%{
#include <stdio.h>

struct command;
static struct command *new_command(int kind);

int yylex(void);
void yyerror(char const *s);
%}

%union
  {
    char *word;
    int number;
    command *command;
  }

%token <word> WORD ASSIGNMENT
%token <number> NUMBER
%token IF THEN ELSE ELIF FI WHILE UNTIL DO DONE FOR IN CASE ESAC FUNCTION BANG
%token AND_AND OR_OR LESS_LESS GREATER_GREATER SEMI_SEMI
%type <command> list pipeline command simple compound
%type <command> group

%left AND_AND OR_OR

%start script
%%
script:   newlines list             { new_command(0); }
        | newlines
        ;

list:     list_of separators        { $$ = 0; }
        | list_of                   { $$ = 0; }
        ;

list_of:  and_or
        | list_of separators and_or
        ;

separators: separator newlines ;
separator: ';' | '&' | '\n' ;
newlines: %empty | newlines '\n' ;

and_or:   pipeline                  { puts("pipeline"); }
        | and_or AND_AND newlines and_or
        | and_or OR_OR newlines and_or
        ;

pipeline: command
        | BANG pipeline             { $$ = $2; }
        | command '|' newlines pipeline { $$ = new_command('|'); $$->next = $1; }
        ;

command:  simple
        | compound
        | compound redirections
        | FUNCTION WORD '(' ')' newlines group  { $$ = $6; }
        ;

simple:   elements                  { $$ = new_command('s'); }
        | assignments               { $$ = new_command('='); }
        | assignments elements      { $$ = new_command('a'); }
        ;

assignments: ASSIGNMENT | assignments ASSIGNMENT ;
elements: WORD | redirection WORD
        | elements WORD | elements NUMBER | elements redirection ;

redirections: redirection | redirections redirection ;
redirection:
          '<' WORD | '>' WORD | GREATER_GREATER WORD | LESS_LESS WORD
        | '>' '&' NUMBER
        ;

compound: group
        | '(' newlines list ')'     { $$ = $3; }
        | IF newlines list THEN newlines list else_part FI     { $$ = new_command('i'); }
        | WHILE newlines list do    { $$ = $3; }
        | UNTIL newlines list do    { $$ = $3; }
        | FOR WORD separators do    { $$ = new_command('f'); }
        | FOR WORD IN words separators do { $$ = new_command('f'); }
        | CASE WORD IN newlines cases ESAC { $$ = new_command('c'); }
        ;

group:    '{' newlines list '}'     { $$ = $3; } ;

do:       DO newlines list DONE ;

else_part: %empty
        | ELSE newlines list
        | ELIF newlines list THEN newlines list else_part
        ;

words:    %empty | words WORD | words NUMBER ;

cases:    %empty | cases case ;
case:     patterns ')' newlines list SEMI_SEMI newlines
        | patterns ')' newlines SEMI_SEMI newlines
        ;
patterns: WORD | patterns '|' WORD ;
%%
static command *new_command(int kind)
{
  static command pool[16];
  pool[kind % 16].kind = kind;
  return &pool[kind % 16];
}

void yyerror(char const *s) { fprintf(stderr, "sh: %s\n", s); }

int main(void)
{
  return yyparse() == 0 ? 0 : 1;
}

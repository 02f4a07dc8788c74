/* A subset of SQL: SELECT, INSERT, UPDATE, DELETE and CREATE TABLE. */

%{
    #include <stdio.h>
    #include <string.h>

    struct query { char *table; struct query *inner; };

    extern int yylex(void);
    extern int yylineno;

    static void yyerror(struct query *query, const char *text)
    {
        (void)query;
        fprintf(stderr, "line %d: %s\n", yylineno, text);
    }
%}

%parse-param { struct query *query }
%define parse.error verbose

%union {
    char *text;
    long number;
    int flag;
}

%token <text> NAME STRING
%token <number> INTEGER
%token <number> DECIMAL

%token SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER ASC DESC LIMIT OFFSET
%token INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE PRIMARY KEY
%token AS JOIN LEFT INNER ON USING UNION ALL EXISTS
%token NULL_VALUE "NULL" DEFAULT
%token <text> TYPE

%left OR
%left AND
%precedence NOT
%nonassoc '=' COMPARISON IS LIKE BETWEEN IN
%left '+' '-' CONCAT
%left '*' '/'
%precedence SIGN

%type <text> name table expr column
%type <flag> distinct direction

%start statements

%%

statements:
      statement ';'
    | statements statement ';'
    | statements error ';'      { yyerrok; }
    ;

statement:
      select
    | INSERT INTO name columns VALUES rows
    | INSERT INTO name columns select
    | UPDATE name SET assignments where
    | DELETE FROM name where
    | CREATE TABLE name '(' definitions ')'     { query->table = $3; }
    ;

select: query order limit ;

query:
      simple
    | query UNION simple
    | query UNION ALL simple
    ;

simple:
      SELECT distinct results from
    ;

distinct: %empty { $$ = 0; } | DISTINCT { $$ = 1; } ;

results: '*' | result | results ',' result ;

result:
      expr
    | expr AS name      { puts("as"); }
    ;

from: %empty | FROM tables where group ;

tables: table | tables ',' table | tables join table ON expr | tables join table USING '(' names ')' ;

join: JOIN | INNER JOIN | LEFT JOIN ;

table:
      name              { $$ = $1; }
    | name AS name      { $$ = $3; }
    | '(' select ')' AS name[alias]     { $$ = $alias; }
    ;

where: %empty | WHERE expr ;
group: %empty | GROUP BY exprs having ;
having: %empty | HAVING expr ;
order: %empty | ORDER BY keys ;
keys: key | keys ',' key ;
key: expr direction ;
direction: %empty { $$ = 1; } | ASC { $$ = 1; } | DESC { $$ = -1; } ;
limit: %empty | LIMIT INTEGER | LIMIT INTEGER OFFSET INTEGER ;

columns: %empty | '(' names ')' ;
names: name | names ',' name ;
rows: '(' values ')' | rows ',' '(' values ')' ;
values: value | values ',' value ;
value: expr | DEFAULT ;
assignments: name '=' value | assignments ',' name '=' value ;

definitions: definition | definitions ',' definition ;
definition: name TYPE | name TYPE '(' INTEGER ')' | definition NOT "NULL" | definition PRIMARY KEY ;

exprs: expr | exprs ',' expr ;

expr:
      column
    | STRING
    | INTEGER                   { $$ = "integer"; }
    | DECIMAL                   { $$ = "decimal"; }
    | "NULL"                    { $$ = "null"; }
    | '(' expr ')'              { $$ = $2; }
    | '(' select ')'            { $$ = "select"; }
    | EXISTS '(' select ')'     { $$ = "exists"; }
    | name '(' ')'
    | name '(' '*' ')'
    | name '(' exprs ')'
    | expr '+' expr             { $$ = "sum"; }
    | expr '-' expr
    | expr CONCAT expr
    | expr '*' expr
    | expr '/' expr
    | '-' expr %prec SIGN       { $$ = $2; }
    | expr '=' expr
    | expr COMPARISON expr
    | expr IS "NULL"
    | expr IS NOT "NULL"
    | expr LIKE expr
    | expr IN '(' exprs ')'
    | expr IN '(' select ')'
    | expr BETWEEN expr '&' expr %prec BETWEEN
    | expr AND expr
    | expr OR expr
    | NOT expr                  { $$ = $2; }
    ;

column: name | name '.' name    { $$ = $3; } ;

name: NAME ;

%%

int main(void)
{
    struct query query = { 0, 0 };
    return yyparse(&query) != 0 || yynerrs > 0;
}

// JMESPath queries, as jmespath.compile reads them.
%start Query
%expect 1
%left '|'
%left '||'
%left '&&'
%left 'compare'
%left '!'
%left '.' '[' '[?' '[]'
%%
Query: Query '|' Query | Query '||' Query | Query '&&' Query | Query 'compare' Query | '!' Query
    | '(' Query ')' | Query '.' Member | Query '.' List | Query Index | Index | Member | List | '@' | 'raw' | 'literal';
Member: 'name' | 'quoted' | '*' | Call | Hash;
Call: 'name' '(' ')' | 'name' '(' Arguments ')';
Arguments: Argument | Arguments ',' Argument;
Argument: Query | '&' Query;
Index: '[' 'number' ']' | '[' Slice ']' | '[' '*' ']' | '[]' | '[?' Query ']';
Slice: Bound ':' Bound | Bound ':' Bound ':' Bound;
Bound: | 'number';
Hash: '{' Pairs '}';
Pairs: Pair | Pairs ',' Pair;
Pair: Key ':' Query;
Key: 'name' | 'quoted';
List: '[' Elements ']';
Elements: Query | Elements ',' Query;

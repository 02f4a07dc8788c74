// Arithmetic with precedence, signs, powers and calls: -a * (b + 2)^2^n - f(x, 1)
%start Sum
%%
Sum: Product | Sum '+' Product | Sum '-' Product;
Product: Sign | Product '*' Sign | Product '/' Sign;
Sign: Power | '-' Sign;
Power: Atom | Atom '^' Sign;
Atom: 'NUMBER' | 'NAME' | 'NAME' '(' ')' | 'NAME' '(' Arguments ')' | '(' Sum ')';
Arguments: Sum | Arguments ',' Sum;

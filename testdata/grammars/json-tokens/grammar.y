// The paper's simplified JSON: n a number, s a string, k a key.
%start V
%%
V: 'n' | 's' | '{' '}' | '{' O '}' | '[' ']' | '[' A ']';
O: 'k' ':' V | 'k' ':' V ',' O;
A: V | V ',' A;

%start S

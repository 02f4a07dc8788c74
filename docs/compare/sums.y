// Sums of numbers, which may be negative.
%token number
%start Sum
%%
Sum: number | Sum '+' number;

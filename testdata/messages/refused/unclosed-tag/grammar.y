%token <std::vector<int> NUM
%%
S: NUM;

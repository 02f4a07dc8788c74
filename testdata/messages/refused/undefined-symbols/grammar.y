%%
S: T | 'a' U | T;

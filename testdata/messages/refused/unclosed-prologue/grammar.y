%{
#include <stdio.h>
%%
S: 'a';

%shift S
%%
S: 'a';

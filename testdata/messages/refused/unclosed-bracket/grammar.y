%%
S: 'a'[left 'b';

%left END 0x0
%%
S: 'a' END;

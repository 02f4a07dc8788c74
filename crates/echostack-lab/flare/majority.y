// Words with more 1s than 0s. After the last prefix with as many 1s as 0s, each further 1 either has its own 0 or is
// left over. Which of the two is known only later, so a rest begins in the same way in both cases.
%start S
%%
S: Equal '1' Rest;
Equal: | Equal '1' Ones '0' | Equal '0' Zeros '1';
Rest: Ones | Ones '1' Rest;
Ones: | Ones '1' Ones '0';
Zeros: | Zeros '0' Zeros '1';

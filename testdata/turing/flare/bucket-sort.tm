turing machine
// A word over 1 to 5, #, and the same symbols in order. For each value in turn, each of its places before # is matched with the
// next place after #. Matched symbols become x, those after # become y.
input 1 2 3 4 5 #
blank _
start find1
accept yes
find1 2 3 4 5 x -> find1 same R
find1 1 -> take1 x R
find1 # -> return1 same L
return1 1 2 3 4 5 x -> return1 same L
return1 _ -> find2 same R
take1 1 2 3 4 5 x -> take1 same R
take1 # -> match1 same R
match1 y -> match1 same R
match1 1 -> back1 y L
back1 y # 1 2 3 4 5 x -> back1 same L
back1 _ -> find1 same R
find2 1 3 4 5 x -> find2 same R
find2 2 -> take2 x R
find2 # -> return2 same L
return2 1 2 3 4 5 x -> return2 same L
return2 _ -> find3 same R
take2 1 2 3 4 5 x -> take2 same R
take2 # -> match2 same R
match2 y -> match2 same R
match2 2 -> back2 y L
back2 y # 1 2 3 4 5 x -> back2 same L
back2 _ -> find2 same R
find3 1 2 4 5 x -> find3 same R
find3 3 -> take3 x R
find3 # -> return3 same L
return3 1 2 3 4 5 x -> return3 same L
return3 _ -> find4 same R
take3 1 2 3 4 5 x -> take3 same R
take3 # -> match3 same R
match3 y -> match3 same R
match3 3 -> back3 y L
back3 y # 1 2 3 4 5 x -> back3 same L
back3 _ -> find3 same R
find4 1 2 3 5 x -> find4 same R
find4 4 -> take4 x R
find4 # -> return4 same L
return4 1 2 3 4 5 x -> return4 same L
return4 _ -> find5 same R
take4 1 2 3 4 5 x -> take4 same R
take4 # -> match4 same R
match4 y -> match4 same R
match4 4 -> back4 y L
back4 y # 1 2 3 4 5 x -> back4 same L
back4 _ -> find4 same R
find5 1 2 3 4 x -> find5 same R
find5 5 -> take5 x R
find5 # -> return5 same L
return5 1 2 3 4 5 x -> return5 same L
return5 _ -> all same R
take5 1 2 3 4 5 x -> take5 same R
take5 # -> match5 same R
match5 y -> match5 same R
match5 5 -> back5 y L
back5 y # 1 2 3 4 5 x -> back5 same L
back5 _ -> find5 same R
all x -> all same R
all # -> last same R
last y -> last same R
last _ -> yes same S

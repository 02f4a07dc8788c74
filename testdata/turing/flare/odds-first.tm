turing machine
// A word, #, and then its symbols at odd places, followed by those at even places. Symbols that were matched become x, those
// after # become y.
input 0 1 #
blank _
start odd
accept yes
odd 0 -> odd0 x R
odd 1 -> odd1 x R
odd # -> rewind same L
odd0 0 1 -> odd0 same R
odd1 0 1 -> odd1 same R
odd0 # -> odd0match same R
odd1 # -> odd1match same R
odd0match y -> odd0match same R
odd1match y -> odd1match same R
odd0match 0 -> oddback y L
odd1match 1 -> oddback y L
oddback y # 0 1 -> oddback same L
oddback x -> skip same R
skip 0 1 -> odd same R
skip # -> rewind same L
// Then the even places, from the left.
rewind 0 1 x -> rewind same L
rewind _ -> even same R
even x -> even same R
even 0 -> even0 x R
even 1 -> even1 x R
even # -> last same R
even0 0 1 x -> even0 same R
even1 0 1 x -> even1 same R
even0 # -> even0match same R
even1 # -> even1match same R
even0match y -> even0match same R
even1match y -> even1match same R
even0match 0 -> evenback y L
even1match 1 -> evenback y L
evenback y # -> evenback same L
evenback 0 1 x -> rewind same L
last y -> last same R
last _ -> yes same S

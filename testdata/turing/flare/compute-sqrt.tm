turing machine
// A number x and the integer part z of its square root, in binary with the lowest digit first, and perhaps zeros at the end. For
// each digit of z that is 1, z is subtracted from x, one place higher for each digit; then at most 2 z may be left.
// In x, A and B are the digits 0 and 1 below the place, and c and d those that were used in this subtraction. In z, p and q are
// the digits whose turn is over, and a, b, P and Q are 0, 1, p and q that were used in this subtraction.
input 0 1 =
blank _
start format
accept yes
format 0 1 -> format1 same R
format1 0 1 -> format1 same R
format1 = -> format2 same R
format2 0 1 -> format3 same R
format3 0 1 -> format3 same R
format3 _ -> begin same L
begin 0 1 -> begin same L
begin = -> turn same R
// The turn of the next digit of z.
turn p q -> turn same R
turn 0 -> place p L
turn 1 -> tozero q L
turn _ -> finish same L
tozero p q -> tozero same L
tozero = -> next0 same R
// Subtract: the state has the borrow, and then what is to be subtracted from the next digit of x: 0, 1 or 2.
next0 a b P Q -> next0 same R
next0 0 -> sub0 a L
next0 1 -> sub1 b L
next0 p -> sub0 P L
next0 q -> sub1 Q L
next0 _ -> left0 same L
next1 a b P Q -> next1 same R
next1 0 -> sub1 a L
next1 1 -> sub2 b L
next1 p -> sub1 P L
next1 q -> sub2 Q L
next1 _ -> left1 same L
left1 a b P Q = 0 1 c d A B -> left1 same L
left1 _ -> borrow same R
left0 a b P Q -> left0 same L
left0 = -> restore same S
sub0 a b P Q = 0 1 c d A B -> sub0 same L
sub0 _ -> at0 same R
at0 A B c d -> at0 same R
at0 0 -> back0 c R
at0 1 -> back0 d R
sub1 a b P Q = 0 1 c d A B -> sub1 same L
sub1 _ -> at1 same R
at1 A B c d -> at1 same R
at1 0 -> back1 d R
at1 1 -> back0 c R
sub2 a b P Q = 0 1 c d A B -> sub2 same L
sub2 _ -> at2 same R
at2 A B c d -> at2 same R
at2 0 -> back1 c R
at2 1 -> back1 d R
at0 = -> next0 same R
back0 0 1 -> back0 same R
back0 = -> next0 same R
back1 0 1 -> back1 same R
back1 = -> next1 same R
// The borrow goes on through x, which has to be large enough.
borrow A B c d -> borrow same R
borrow 0 -> borrow d R
borrow 1 -> toequals c R
toequals 0 1 -> toequals same R
toequals = -> restore same S
// Restore the digits of z, and then those of x.
restore = -> restorez same R
restorez a -> restorez 0 R
restorez b -> restorez 1 R
restorez P -> restorez p R
restorez Q -> restorez q R
restorez _ -> restored same L
restored 0 1 p q -> restored same L
restored = -> restorex same L
restorex 0 1 A B -> restorex same L
restorex c -> restorex 0 L
restorex d -> restorex 1 L
restorex _ -> shift same R
// The place is one higher.
place p q -> place same L
place = -> tostart same L
tostart 0 1 A B -> tostart same L
tostart _ -> shift same R
shift A B -> shift same R
shift 0 -> toturn A R
shift 1 -> toturn B R
shift = -> turn same R
toturn 0 1 -> toturn same R
toturn = -> turn same R
// Compare what is left of x with 2 z, digit by digit. Those that were compared become x and y. The state says whether x is larger so far.
finish p q = 0 1 A B -> finish same L
finish _ -> lowest same R
lowest 0 A -> goless x R
lowest 1 B -> gomore x R
goless 0 A -> zeroless x R
goless 1 B -> oneless x R
goless = -> endless same R
zeroless 0 1 A B -> zeroless same R
zeroless = -> zerolessz same R
zerolessz y -> zerolessz same R
oneless 0 1 A B -> oneless same R
oneless = -> onelessz same R
onelessz y -> onelessz same R
zerolessz p -> returnless y L
zerolessz q -> returnless y L
zerolessz _ -> returnless same L
onelessz p -> returnmore y L
onelessz q -> returnless y L
onelessz _ -> returnmore same L
returnless y = 0 1 A B -> returnless same L
returnless x -> goless same R
endless y p -> endless same R
endless q -> yes same S
gomore 0 A -> zeromore x R
gomore 1 B -> onemore x R
gomore = -> endmore same R
zeromore 0 1 A B -> zeromore same R
zeromore = -> zeromorez same R
zeromorez y -> zeromorez same R
onemore 0 1 A B -> onemore same R
onemore = -> onemorez same R
onemorez y -> onemorez same R
zeromorez p -> returnmore y L
zeromorez q -> returnless y L
zeromorez _ -> returnmore same L
onemorez p -> returnmore y L
onemorez q -> returnmore y L
onemorez _ -> returnmore same L
returnmore y = 0 1 A B -> returnmore same L
returnmore x -> gomore same R
endmore y p -> endmore same R
endmore q -> yes same S
endless _ -> yes same S

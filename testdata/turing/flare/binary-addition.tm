turing machine
// Two numbers and their sum, in binary with the lowest digit first, and perhaps zeros at the end. Digits that were used become x.
input 0 1 + =
blank _
start format
accept yes
// Each number has at least one digit.
format 0 1 -> format1 same R
format1 0 1 -> format1 same R
format1 + -> format2 same R
format2 0 1 -> format3 same R
format3 0 1 -> format3 same R
format3 = -> format4 same R
format4 0 1 -> format5 same R
format5 0 1 -> format5 same R
format5 _ -> rewind0 same L
rewind0 0 1 x + = -> rewind0 same L
rewind0 _ -> first0 same R
first0 x -> first0 same R
rewind1 0 1 x + = -> rewind1 same L
rewind1 _ -> first1 same R
first1 x -> first1 same R
// The state says how much the digits and the carry add up to so far, and whether a digit was found.
first0 0 -> to0d x R
first0 1 -> to1d x R
first0 + -> second0 same R
first1 0 -> to1d x R
first1 1 -> to2d x R
first1 + -> second1 same R
to0d 0 1 -> to0d same R
to0d + -> second0d same R
second0d x -> second0d same R
second0d = -> sum0d same R
second0d 0 -> go0d x R
go0d 0 1 -> go0d same R
go0d = -> sum0d same R
second0d 1 -> go1d x R
second0 x -> second0 same R
second0 = -> sum0 same R
second0 0 -> go0d x R
second0 1 -> go1d x R
to1d 0 1 -> to1d same R
to1d + -> second1d same R
second1d x -> second1d same R
second1d = -> sum1d same R
second1d 0 -> go1d x R
go1d 0 1 -> go1d same R
go1d = -> sum1d same R
second1d 1 -> go2d x R
second1 x -> second1 same R
second1 = -> sum1 same R
second1 0 -> go1d x R
second1 1 -> go2d x R
to2d 0 1 -> to2d same R
to2d + -> second2d same R
second2d x -> second2d same R
second2d = -> sum2d same R
second2d 0 -> go2d x R
go2d 0 1 -> go2d same R
go2d = -> sum2d same R
second2d 1 -> go3d x R
go3d 0 1 -> go3d same R
go3d = -> sum3d same R
// The digit of the sum, which is 0 after its end.
sum0d x -> sum0d same R
sum0d 0 -> rewind0 x L
sum0d _ -> rewind0 same L
sum1d x -> sum1d same R
sum1d 1 -> rewind0 x L
sum2d x -> sum2d same R
sum2d 0 -> rewind1 x L
sum2d _ -> rewind1 same L
sum3d x -> sum3d same R
sum3d 1 -> rewind1 x L
// Both numbers are at their ends.
sum0 x 0 -> sum0 same R
sum0 _ -> yes same S
sum1 x -> sum1 same R
sum1 1 -> sum0 x R

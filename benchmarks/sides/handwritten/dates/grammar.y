// Dates and times as Python's datetime.fromisoformat reads them, as far as a grammar can say it: whether a month has 31 days is
// for the program to know. 4 stands for 4 and 5, 6 for 6 and 7, and 8 for 8 and 9.
%start Text
%expect 1
%%
Text: Date | Date Separator Time | Date Separator Time Zone;
Date: Year '-' Month '-' Day | Year Month Day | Year '-' 'W' Week '-' Weekday | Year '-' 'W' Week
    | Year 'W' Week Weekday | Year 'W' Week;
Year: Digit Digit Digit Digit;
Month: '0' Positive | '1' '0' | '1' '1' | '1' '2';
Day: '0' Positive | '1' Digit | '2' Digit | '3' '0' | '3' '1';
Week: '0' Positive | '1' Digit | '2' Digit | '3' Digit | '4' Digit;
Weekday: '1' | '2' | '3' | '4' | '6';
Separator: 'other' | 'Z' | 'W' | ':' | '.' | ',' | '+' | '-';
Time: Hour | Hour ':' Sixty | Hour ':' Sixty ':' Sixty | Hour ':' Sixty ':' Sixty Fraction
    | Hour Sixty | Hour Sixty Sixty | Hour Sixty Sixty Fraction;
Hour: '0' Digit | '1' Digit | '2' '0' | '2' '1' | '2' '2' | '2' '3';
Sixty: '0' Digit | '1' Digit | '2' Digit | '3' Digit | '4' Digit;
Fraction: Point Digits;
Point: '.' | ',';
Digits: Digit | Digits Digit;
Zone: 'Z' | Sign Hour ':' Sixty | Sign Hour Sixty | Sign Hour | Sign Hour ':' Sixty ':' Sixty;
Sign: '+' | '-';
Digit: '0' | Positive;
Positive: '1' | '2' | '3' | '4' | '6' | '8';

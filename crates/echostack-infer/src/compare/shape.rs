//! What is common to texts of a kind.

/// Returns the shape of a text: of a number, whether it begins with 0, and its length roughly; of repeated characters, that
/// they are repeated.
pub(crate) fn shape(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::new(), 0);
    while at < letters.len() {
        let first = letters[at];
        let alike = |letter: &&char| if first.is_ascii_digit() { letter.is_ascii_digit() } else { **letter == first };
        let length = letters[at..].iter().take_while(alike).count();
        if first.is_ascii_digit() {
            out.push(if first == '0' { '0' } else { '1' });
            out.push_str(match length {
                1 => "",
                2..=5 => "+",
                6..=30 => "++",
                _ => "+++",
            });
        } else if length > 5 {
            out.push(first);
            out.push('+');
        } else {
            out.extend(std::iter::repeat_n(first, length));
        }
        at += length;
    }
    out
}

/// Returns the shape of a text in which all numbers are alike, except that some have an exponent.
pub(crate) fn coarse(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let digits = |mut at: usize| {
        while letters.get(at).is_some_and(char::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let (mut out, mut at) = (String::new(), 0);
    while at < letters.len() {
        let mut end = digits(at);
        if end == at {
            out.push(letters[at]);
            at += 1;
            continue;
        }
        out.push('1');
        if letters.get(end) == Some(&'.') {
            let fraction = digits(end + 1);
            end = if fraction > end + 1 { fraction } else { end };
        }
        if matches!(letters.get(end), Some('e' | 'E')) {
            let sign = usize::from(matches!(letters.get(end + 1), Some('+' | '-')));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                out.push_str(if letters[end + 1] == '-' { "e-1" } else { "e1" });
                end = exponent;
            }
        }
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_keep_what_matters() {
        assert_eq!(["-", "01", "007", "1e309", "[[[[[[[]"].map(shape), ["-", "0+", "0+", "1e1+", "[+]"]);
        assert_eq!(shape("18446744073709551616"), "1++");
        assert_eq!(shape(&"1".repeat(4301)), "1+++");
        assert_eq!(shape("NaN"), "NaN");
    }

    #[test]
    fn numbers_are_alike() {
        assert_eq!(["2e308", "10E+308", "1.79e308"].map(coarse), ["1e1"; 3]);
        assert_eq!(["[12, 3.5]", "1e-9", "1.", "1e"].map(coarse), ["[1, 1]", "1e-1", "1.", "1e"]);
    }
}

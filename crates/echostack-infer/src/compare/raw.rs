//! Texts that are not UTF-8: a byte that is no part of a character is a private character that stands for it, so that such
//! texts are asked about, made smaller and told apart like all others.

use std::borrow::Cow;

/// The character that stands for the byte 0x80; those for the other bytes follow. It is for private use, and far from those
/// that fonts use.
const FIRST: u32 = 0x10_F780;

/// Byte sequences that are no UTF-8, or that only some programs take for UTF-8.
const SEQUENCES: [&[u8]; 12] = [
    b"\xff",
    b"\x80",
    b"\xe9",
    b"\xc3",
    b"\xe2\x82",
    b"\xc0\x80",
    b"\xc0\xaf",
    b"\xe0\x80\xaf",
    b"\xed\xa0\x80",
    b"\xed\xa0\xbd\xed\xb8\x80",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
];

/// Returns the byte that a character stands for.
fn byte(letter: char) -> Option<u8> {
    u32::from(letter).checked_sub(FIRST).and_then(|byte| u8::try_from(byte + 0x80).ok())
}

/// Returns the character that stands for bytes in a text.
pub(super) fn reserved(text: &str) -> Option<char> {
    text.chars().find(|&letter| byte(letter).is_some())
}

/// Returns the bytes of a text.
pub(super) fn bytes(text: &str) -> Cow<'_, [u8]> {
    if reserved(text).is_none() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut found = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match byte(letter) {
            Some(byte) => found.push(byte),
            None => found.extend(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(found)
}

/// Returns the text of bytes.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut found = String::new();
    for chunk in bytes.utf8_chunks() {
        found.push_str(chunk.valid());
        // A byte that is no part of a character is at least 0x80.
        found.extend(chunk.invalid().iter().filter_map(|&byte| char::from_u32(FIRST + u32::from(byte) - 0x80)));
    }
    found
}

/// Returns a text for people, as it was escaped with `{:?}`: bytes as `\xff`.
pub(super) fn shown(escaped: &str) -> String {
    let mut parts = escaped.split("\\u{10f7");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.get(..3).and_then(|digits| digits.strip_suffix('}'));
        match digits.filter(|digits| u8::from_str_radix(digits, 16).is_ok_and(|byte| byte >= 0x80)) {
            Some(digits) => out.extend(["\\x", digits, &part[3..]]),
            None => out.extend(["\\u{10f7", part]),
        }
    }
    out
}

/// Returns examples with bytes that are not UTF-8 at their beginning, in their middle and at their end, and in other encodings.
pub(super) fn of_examples(examples: &[String], most: usize) -> Vec<String> {
    let mut sorted: Vec<&String> = examples.iter().filter(|example| !example.is_empty()).collect();
    sorted.sort_by_key(|example| (example.len(), *example));
    let mut found = Vec::new();
    for example in sorted {
        if found.len() >= most {
            break;
        }
        let utf16: Vec<u16> = example.encode_utf16().collect();
        let with = |mark: &[u8], units: Vec<u8>| text(&[mark, &units].concat());
        let (little, big): (Vec<u8>, Vec<u8>) = (
            utf16.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
            utf16.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        );
        found.extend([text(&little), text(&big), with(b"\xff\xfe", little), with(b"\xfe\xff", big)]);
        let wide: Vec<u8> = example.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
        found.extend([text(&wide), with(b"\xff\xfe\0\0", wide)]);
        let places = example.char_indices().map(|(at, _)| at).chain([example.len()]);
        for at in places {
            let (before, after) = example.split_at(at);
            found.extend(SEQUENCES.iter().map(|bytes| [before, &text(bytes), after].concat()));
        }
    }
    found.truncate(most);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every string of three bytes of each class comes back.
    #[test]
    fn bytes_are_texts_and_back() {
        let classes = [0, b'a', 0x7f, 0x80, 0xbf, 0xc3, 0xa9, 0xe2, 0xf4, 0xff];
        for one in classes {
            for two in classes {
                for three in classes {
                    let given = [one, two, three];
                    let made = text(&given);
                    assert_eq!(*bytes(&made), given);
                    assert_eq!(reserved(&made).is_none(), std::str::from_utf8(&given).is_ok());
                }
            }
        }
    }

    #[test]
    fn bytes_are_shown_in_hexadecimal_digits() {
        assert_eq!(shown(&format!("{:?}", text(b"a\xff\n\xc3"))), r#""a\xff\n\xc3""#);
        assert_eq!(shown("\\u{10f700}\\u{10f7"), "\\u{10f700}\\u{10f7");
    }

    #[test]
    fn examples_have_other_bytes() {
        let found = of_examples(&["[1]".to_string()], 1000);
        assert_eq!(found.len(), 6 + 4 * SEQUENCES.len());
        assert!(found.iter().any(|text| *bytes(text) == *b"\xff\xfe[\x001\0]\0"));
        assert!(found.iter().any(|text| *bytes(text) == *b"[\xff1]"));
    }
}

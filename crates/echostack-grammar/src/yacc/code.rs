//! What Yacc's and Lex's files have in common: C code, which is skipped, comments, and literals.

/// Returns the position after the comment that begins here. Returns `None` if none begins here, and the length of the
/// text for one that is not closed.
pub(crate) fn comment(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with("//") {
        // A backslash at the end of a line continues the comment, even with blanks after it, as in bison.
        let is_end = |(end, _): &(usize, &str)| {
            !rest[..*end].trim_end_matches([' ', '\t', '\r', '\x0b', '\x0c']).ends_with('\\')
        };
        return Some(rest.match_indices('\n').find(is_end).map_or(text.len(), |(end, _)| at + end));
    }
    let inside = rest.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |end| at + end + 4))
}

/// Returns the position after the literal that begins with this quote, or `None` if it is not closed on its line.
pub(crate) fn literal(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    loop {
        match *bytes.get(end)? {
            b'\n' => return None,
            b'\\' => end += 2,
            byte if byte == bytes[at] => return Some(end + 1),
            _ => end += 1,
        }
    }
}

/// Returns the position after the block of code that begins with this brace, or `None` if it is not closed.
pub(crate) fn block(text: &str, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = 0;
    skip(text, at, |byte| {
        // In C, <% and %> are braces, too.
        match (before, byte) {
            (_, b'{') | (b'<', b'%') => depth += 1,
            (_, b'}') | (b'%', b'>') => depth -= 1,
            _ => {
                before = byte;
                return false;
            }
        }
        before = 0;
        depth == 0
    })
    .map(|end| end + 1)
}

/// Returns the position after the prologue that begins here with `%{`, or `None` if it is not closed.
pub(crate) fn prologue(text: &str, at: usize) -> Option<usize> {
    let mut before = 0;
    skip(text, at + 2, |byte| std::mem::replace(&mut before, byte) == b'%' && byte == b'}').map(|end| end + 1)
}

/// Returns the position of the first byte of code at which `stop` is true. Comments and literals are passed over.
fn skip(text: &str, mut at: usize, mut stop: impl FnMut(u8) -> bool) -> Option<usize> {
    // Up to where each kind of quote begins no literal, because one before it is not closed on the same line. A line of
    // such quotes is looked at once, not once for each of them.
    let mut plain = [0; 2];
    loop {
        let byte = *text.as_bytes().get(at)?;
        let end = match byte {
            b'/' => comment(text, at),
            // An apostrophe need not begin a literal: there are lifetimes in Rust, and "don't" after #error.
            b'"' | b'\'' => {
                let plain = &mut plain[usize::from(byte == b'"')];
                let end = if at < *plain { None } else { literal(text, at) };
                if end.is_none() && at >= *plain {
                    *plain = text[at..].find('\n').map_or(text.len(), |line| at + line);
                }
                end
            }
            _ => None,
        };
        if end.is_none() && stop(byte) {
            return Some(at);
        }
        at = end.unwrap_or(at + 1);
    }
}

/// Returns the name of a token that is written as a literal, from what is between its quotes.
///
/// A character is its own name, however it is written: `'+'` and `'\x2b'` are `+`, and `'\''` is `'`. Characters that
/// are not visible are named by their escapes, such as `\n`. A longer literal is its own name.
pub(crate) fn literal_name(inside: &str) -> String {
    match (character(inside), byte(inside)) {
        (Some(letter), _) => character_name(letter),
        (None, Some(byte)) => format!("\\x{byte:02x}"),
        (None, None) => inside.replace("\\\"", "\"").replace("\\'", "'"),
    }
}

/// Returns the name of the token for a character.
pub(crate) fn character_name(letter: char) -> String {
    match letter {
        '\0' => "\\0".into(),
        '\x07' => "\\a".into(),
        '\x08' => "\\b".into(),
        '\x0b' => "\\v".into(),
        '\x0c' => "\\f".into(),
        '\t' => "\\t".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        letter if letter.is_control() => format!("\\x{:02x}", u32::from(letter)),
        letter => letter.into(),
    }
}

/// Returns the byte that a literal stands for, if it is an escape with a number in hexadecimal or octal digits.
fn byte(inside: &str) -> Option<u8> {
    let digits = inside.strip_prefix('\\')?;
    match digits.strip_prefix('x') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => u8::from_str_radix(digits, 16).ok(),
        None if digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            u8::from_str_radix(digits, 8).ok()
        }
        _ => None,
    }
}

/// Returns the character that a literal stands for, if it stands for a single one. Numbers of bytes that are not ASCII
/// are no characters.
fn character(inside: &str) -> Option<char> {
    let mut letters = inside.chars();
    let first = letters.next()?;
    let rest = letters.as_str();
    if first != '\\' {
        return rest.is_empty().then_some(first);
    }
    let number = |digits: &str, radix| {
        let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits.and_then(|digits| u32::from_str_radix(digits, radix).ok()).and_then(char::from_u32)
    };
    match rest {
        "a" => Some('\x07'),
        "b" => Some('\x08'),
        "f" => Some('\x0c'),
        "n" => Some('\n'),
        "r" => Some('\r'),
        "t" => Some('\t'),
        "v" => Some('\x0b'),
        "'" | "\"" | "?" | "\\" => rest.chars().next(),
        _ if rest.starts_with(['u', 'U']) => number(&rest[1..], 16),
        _ if rest.starts_with('x') => number(&rest[1..], 16).filter(char::is_ascii),
        _ if rest.len() <= 3 => number(rest, 8).filter(char::is_ascii),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_in_literals_and_comments_do_not_count() {
        for code in ["{}", "{ { } }", r#"{ "}" '}' '\'' "\"}" }"#, "{ /* } */ // }\n }", "{ <'a> don't\n }", "{é}"] {
            assert_eq!(block(&format!("{code} }}"), 0), Some(code.len()), "{code}");
        }
        for code in ["{", "{ \"}\"", "{ // }", "{ /* }", "{ '}'", "{ \"\\"] {
            assert_eq!(block(code, 0), None, "{code}");
        }
        assert_eq!(prologue("%{ a = b % c; \"%}\" // %}\n%} x", 0), Some(27));
        assert_eq!(prologue("%{ /* %} */", 0), None);
        assert_eq!(comment("/* *", 0), Some(4));
    }

    #[test]
    fn a_character_has_one_name_however_it_is_written() {
        for (written, name) in [
            ("+", "+"),
            (r"\x2b", "+"),
            (r"\53", "+"),
            (r"\'", "'"),
            ("\\\"", "\""),
            (r"\\", "\\"),
            (r"\n", "\\n"),
            (r"\012", "\\n"),
            ("\t", "\\t"),
            (r"\x1", "\\x01"),
            (r"\0", "\\0"),
            ("é", "é"),
            (r"\u00e9", "é"),
            (r"\xe9", r"\xe9"),
            (" ", " "),
            ("while", "while"),
            (r#"a\"b"#, "a\"b"),
            (r"\d", r"\d"),
            ("", ""),
        ] {
            assert_eq!(literal_name(written), name, "{written}");
        }
    }
}

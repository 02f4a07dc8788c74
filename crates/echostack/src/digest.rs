//! Formatting of digests for files.

/// Returns the bytes as hexadecimal digits, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16);
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(digit).collect()
}

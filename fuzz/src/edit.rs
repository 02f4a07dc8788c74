//! Inputs that are edits of a valid file. Bytes changed at random rarely get past the header of a model file; edits keep
//! the file consistent enough to be read further.

/// A file that edits begin with: a header of text, and numbers after it.
#[derive(Clone, Debug)]
pub struct Base {
    header: Vec<u8>,
    body: Vec<u8>,
    has_length: bool,
}

impl Base {
    /// Takes a text file, which is all header.
    pub fn text(text: &str) -> Self {
        Self { header: text.into(), body: Vec::new(), has_length: false }
    }

    /// Takes a safetensors file: the length of the header, the header, and the numbers.
    ///
    /// # Panics
    /// If the file is shorter than it says.
    pub fn safetensors(bytes: &[u8]) -> Self {
        let (length, rest) = bytes.split_first_chunk().expect("a safetensors file begins with eight bytes");
        let (header, body) = rest.split_at(u64::from_le_bytes(*length) as usize);
        Self { header: header.to_vec(), body: body.to_vec(), has_length: true }
    }

    /// Returns the file after edits, each of which is encoded in six bytes.
    pub fn edited(&self, edits: &[u8]) -> Vec<u8> {
        let mut file = self.clone();
        edits.as_chunks::<6>().0.iter().for_each(|edit| file.edit(*edit));
        let mut bytes = Vec::new();
        if file.has_length {
            bytes.extend((file.header.len() as u64).to_le_bytes());
        }
        bytes.extend(file.header);
        bytes.extend(file.body);
        bytes
    }

    fn edit(&mut self, [kind, low, high, a, b, c]: [u8; 6]) {
        let at = usize::from(u16::from_le_bytes([low, high]));
        let (header, body) = (&mut self.header, &mut self.body);
        let kind = if body.is_empty() { kind % 6 } else { kind % 10 };
        match kind {
            0 if !header.is_empty() => {
                let at = at % header.len();
                header[at] = a;
            }
            1 => {
                let at = at % (header.len() + 1);
                header.splice(at..at, [a, b, c].into_iter().take(usize::from(c % 3) + 1));
            }
            2 if !header.is_empty() => {
                let at = at % header.len();
                let end = (at + 1 + usize::from(a % 32)).min(header.len());
                header.drain(at..end);
            }
            3 => replace_number(header, at, a),
            4 | 5 if c < 192 => change_item(header, at, a.is_multiple_of(2)),
            4 | 5 => change_list(header, at, a),
            6 => overwrite(body, 8 * (at + (usize::from(b) << 16)), &float(a, c).to_le_bytes()),
            7 => overwrite(body, 4 * (at + (usize::from(b) << 16)), &integer(a, c).to_le_bytes()),
            8 => overwrite(body, at + (usize::from(b) << 16), &[a]),
            9 if a % 16 == 0 => body.truncate(at),
            9 if a % 16 == 1 => body.resize(body.len() + at % 64, b),
            _ => {}
        }
    }
}

fn overwrite(body: &mut [u8], at: usize, bytes: &[u8]) {
    let places = body.len() / bytes.len();
    if places > 0 {
        let at = at / bytes.len() % places * bytes.len();
        body[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// Removes or repeats an item of a list: what is between two commas at or after a place in a text.
fn change_item(text: &mut Vec<u8>, at: usize, removes: bool) {
    let from = at % text.len().max(1);
    let mut commas = (from..text.len()).filter(|&at| text[at] == b',');
    let (Some(start), Some(end)) = (commas.next(), commas.next()) else { return };
    let item: Vec<u8> = if removes { Vec::new() } else { text[start..end].repeat(2) };
    text.splice(start..end, item);
}

/// Removes, repeats or moves a list at or after a place in a text, with all that is in it.
fn change_list(text: &mut Vec<u8>, at: usize, how: u8) {
    let next = |from: usize, text: &[u8]| text[from..].iter().position(|&byte| byte == b'[').map(|found| from + found);
    let Some(start) = next(at % text.len().max(1), text) else { return };
    let mut depth = 0_usize;
    let length = text[start..].iter().position(|&byte| {
        depth = depth + usize::from(byte == b'[') - usize::from(byte == b']');
        depth == 0
    });
    let Some(mut end) = length.map(|length| start + length + 1) else { return };
    // The comma after the list belongs to it.
    end += usize::from(text.get(end) == Some(&b','));
    let list = text[start..end].to_vec();
    match how % 4 {
        0 => text.splice(start..end, list.repeat(2)).for_each(drop),
        1 => {
            text.drain(start..end);
            let to = next(start.saturating_sub(usize::from(how)), text).unwrap_or(start);
            text.splice(to..to, list);
        }
        _ => text.drain(start..end).for_each(drop),
    }
}

/// Replaces the first number at or after a place in a text.
fn replace_number(text: &mut Vec<u8>, at: usize, number: u8) {
    let from = at % text.len().max(1);
    let Some(start) = text[from..].iter().position(u8::is_ascii_digit).map(|found| from + found) else { return };
    let end = text[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |length| start + length);
    const NUMBERS: [&str; 24] = [
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "7",
        "8",
        "16",
        "31",
        "255",
        "256",
        "257",
        "4096",
        "4097",
        "65535",
        "65536",
        "65537",
        "2147483648",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "1e308",
        "0.5",
    ];
    text.splice(start..end, NUMBERS[usize::from(number) % NUMBERS.len()].bytes());
}

fn float(kind: u8, detail: u8) -> f64 {
    const FLOATS: [f64; 20] = [
        0.,
        -0.,
        1.,
        -1.,
        0.5,
        2.,
        1e8,
        -1e8,
        1e16,
        1e60,
        -1e60,
        1e150,
        1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        1e-300,
        f64::INFINITY,
        f64::NAN,
        f64::NEG_INFINITY,
    ];
    FLOATS.get(usize::from(kind) % 24).copied().unwrap_or(f64::from(detail) / 64. - 2.)
}

fn integer(kind: u8, detail: u8) -> u32 {
    const INTEGERS: [u32; 10] =
        [0, 1, u32::MAX, u32::MAX - 1, 1 << 31, 1 << 16, (1 << 16) - 1, 1 << 12, (1 << 12) + 1, 1 << 24];
    INTEGERS.get(usize::from(kind) % 16).copied().unwrap_or(u32::from(detail))
}

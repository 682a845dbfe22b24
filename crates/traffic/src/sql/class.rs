//! Classes of bytes in SQL.

/// A byte with which a name may begin. Bytes above 0x7F are parts of letters in UTF-8.
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;
/// The byte `$`, which may continue a name in both dialects.
const DOLLAR: u8 = 8;

static CLASS: [u8; 256] = table();

const fn table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => LETTER,
            b'0'..=b'9' => DIGIT,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => SPACE,
            b'$' => DOLLAR,
            _ => 0,
        };
        byte += 1;
    }
    table
}

fn is(byte: u8, classes: u8) -> bool {
    CLASS[usize::from(byte)] & classes != 0
}

pub(super) fn is_letter(byte: u8) -> bool {
    is(byte, LETTER)
}

pub(super) fn is_digit(byte: u8) -> bool {
    is(byte, DIGIT)
}

pub(super) fn is_space(byte: u8) -> bool {
    is(byte, SPACE)
}

pub(super) fn is_of_word(byte: u8) -> bool {
    is(byte, LETTER | DIGIT | DOLLAR)
}

/// Returns the position of the first byte, from `at` on, for which `wanted` is false.
pub(super) fn run(text: &[u8], at: usize, wanted: impl Fn(u8) -> bool) -> usize {
    text[at..].iter().position(|byte| !wanted(*byte)).map_or(text.len(), |length| at + length)
}

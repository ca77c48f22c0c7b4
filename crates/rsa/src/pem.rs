//! The blocks of a PEM text (RFC 7468), in every layout that OpenSSL reads.

use std::ops::Range;
use zeroize::Zeroizing;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// Largest length of a label with the dashes behind it.
const MAX_LABEL: usize = 100;

/// A block of a text.
pub(super) struct PemBlock<'a> {
    pub(super) label: &'a str,
    /// The bytes of the text before the block.
    pub(super) before: &'a [u8],
    /// The bytes between the lines BEGIN and END, or the reason why they were not found.
    body: Result<&'a [u8], String>,
}

fn find(bytes: &[u8], part: &[u8], from: usize) -> Option<usize> {
    bytes.get(from..)?.windows(part.len()).position(|window| window == part).map(|at| from + at)
}

/// The label that ends in five dashes at the beginning of `bytes`.
fn label(bytes: &[u8]) -> Option<&str> {
    let line = &bytes[..bytes.len().min(MAX_LABEL)];
    let label = std::str::from_utf8(&line[..find(line, DASHES, 0)?]).ok()?;
    label.bytes().all(|byte| (b' '..=b'~').contains(&byte)).then_some(label)
}

/// Whether only white space or a byte-order mark precedes the next byte on its line.
fn starts_line(before: &[u8]) -> bool {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c);
    let before = &before[..before.iter().rposition(|byte| !blank(byte)).map_or(0, |last| last + 1)];
    matches!(before, [] | [.., b'\n' | b'\r'] | b"\xef\xbb\xbf")
}

/// The next BEGIN from a position on, as its range with the dashes around it, and its label.
fn next_begin(text: &[u8], from: usize) -> Option<(Range<usize>, &str)> {
    let mut at = from;
    while let Some(begin) = find(text, BEGIN, at) {
        at = begin + BEGIN.len();
        if starts_line(&text[from..begin])
            && let Some(label) = label(&text[at..])
        {
            return Some((begin..at + label.len() + DASHES.len(), label));
        }
    }
    None
}

/// The blocks of a text, in order.
pub(super) fn blocks(text: &[u8]) -> impl Iterator<Item = PemBlock<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let (begin, label) = next_begin(text, from)?;
        let next = next_begin(text, begin.end).map_or(text.len(), |(next, _)| next.start);
        let body = match find(&text[..next], END, begin.end) {
            Some(end) => {
                let other = self::label(&text[end + END.len()..next]);
                from = other.map_or(next, |other| end + END.len() + other.len() + DASHES.len());
                match other {
                    Some(other) if other == label => Ok(&text[begin.end..end]),
                    Some(other) => Err(format!("a block that begins as {label} ends as {other}")),
                    None => Err("the line -----END is cut".to_owned()),
                }
            }
            None => {
                from = next;
                Err(format!("no line says -----END {label}-----"))
            }
        };
        Some(PemBlock { label, before: &text[..begin.start], body })
    })
}

impl PemBlock<'_> {
    /// Whether the body is encrypted as in RFC 1421.
    pub(super) fn is_encrypted(&self) -> bool {
        self.body.as_ref().is_ok_and(|body| find(body, b"Proc-Type: 4,ENCRYPTED", 0).is_some())
    }

    /// The bytes that the body encodes. Lines have any length, and white space is ignored. An error is the reason as text.
    pub(super) fn decode(&self) -> Result<Zeroizing<Vec<u8>>, String> {
        let body = self.body.clone()?;
        let mut digits = Zeroizing::new(Vec::with_capacity(body.len()));
        digits.extend(body.iter().copied().filter(|byte| !byte.is_ascii_whitespace()));
        let in_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        if let Some(byte) = digits.iter().find(|byte| !in_base64(byte)) {
            let byte = char::from(*byte).escape_default();
            return Err(format!("the character '{byte}' is not part of Base64"));
        }
        if !digits.len().is_multiple_of(4) {
            return Err(format!("it has {} characters of Base64, but whole blocks have a multiple of 4", digits.len()));
        }
        // The decoder takes lines of 64 characters.
        let label = self.label;
        let mut text = Zeroizing::new(Vec::with_capacity(2 * digits.len() + 100));
        text.extend_from_slice(format!("-----BEGIN {label}-----\n").as_bytes());
        for line in digits.chunks(64) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        text.extend_from_slice(format!("-----END {label}-----\n").as_bytes());
        let decoded = pem_rfc7468::decode_vec(&text).map_err(|error| error.to_string())?;
        Ok(Zeroizing::new(decoded.1))
    }
}

//! Private keys of other programs, which no file of this library replaces.

/// Number of bytes at the beginning of a file that suffice to recognize a private key.
pub const PRIVATE_KEY_HEAD: usize = 4096;

/// Whether bytes begin like a private key of any algorithm, even a damaged one. Formats: PEM, OpenSSH's own, and DER of PKCS#1, PKCS#8 (also
/// encrypted with a passphrase), SEC 1 and PKCS#12.
#[must_use]
pub fn is_private_key(bytes: &[u8]) -> bool {
    const PEM: &[u8] = b"PRIVATE KEY-----";
    // PKCS#5 and PKCS#12: encryption with a passphrase.
    const PASSPHRASE: [&[u8]; 2] = [b"\x2a\x86\x48\x86\xf7\x0d\x01\x05", b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01"];
    let head = &bytes[..bytes.len().min(PRIVATE_KEY_HEAD)];
    if head.windows(PEM.len()).any(|part| part == PEM) {
        return true;
    }
    match sequence(head) {
        // A version, followed by the modulus, the algorithm or the key.
        Some([0x02, 0x01, 0 | 1 | 3, 0x02 | 0x04 | 0x30, ..]) => true,
        Some(body) => match sequence(body) {
            Some([0x06, _, oid @ ..]) => PASSPHRASE.iter().any(|prefix| oid.starts_with(prefix)),
            _ => false,
        },
        None => false,
    }
}

/// The bytes after the tag and the length of a DER SEQUENCE.
fn sequence(der: &[u8]) -> Option<&[u8]> {
    match der {
        [0x30, length @ 0x80..=0x84, rest @ ..] => rest.get(usize::from(length & 0x7f)..),
        [0x30, 0..=0x7f, rest @ ..] => Some(rest),
        _ => None,
    }
}

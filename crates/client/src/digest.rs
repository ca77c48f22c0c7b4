//! Names of files on a service.

/// The name of these bytes on a service.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("b3-{}", blake3::hash(bytes).to_hex())
}

//! Ciphertexts and keys from untrusted bytes. A reader returns typed errors and never panics. Accepted input is written back unchanged.

use solinas_runtime::{Ciphertext, ClientKey, Control, KeygenOptions, Plain, ServerKey, Type, keygen};

use super::container::reseal;

/// Reads the bytes as each kind of file, unchanged and with corrected checksums.
pub fn run(data: &[u8]) {
    for bytes in [Some(data.to_vec()), reseal(data)].into_iter().flatten() {
        if let Ok(ciphertext) = Ciphertext::from_bytes(&bytes) {
            let copy = ciphertext.to_bytes().expect("what was read can be written");
            assert_eq!(Ciphertext::from_bytes(&copy).expect("what was written can be read"), ciphertext);
        }
        let _ = ClientKey::from_bytes(&bytes);
        let _ = ServerKey::from_bytes(&bytes);
    }
}

/// A client key and ciphertexts of one and of several elements.
pub fn seeds() -> Vec<Vec<u8>> {
    let options = KeygenOptions { params: Some("gates-40".into()), insecure_seed: Some(1), ..Default::default() };
    let Ok((client, _)) = keygen(&options, &Control::default()) else { return Vec::new() };
    let plain = [Plain::new(Type::Bool, None, vec![1]), Plain::new(Type::Uint(2), Some(vec![1, 1]), vec![3])];
    let ciphertexts = plain.into_iter().flatten().filter_map(|plain| client.encrypt(&plain).ok()?.to_bytes().ok());
    client.to_bytes().ok().map(|bytes| bytes.to_vec()).into_iter().chain(ciphertexts).collect()
}

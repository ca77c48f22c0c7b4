//! Keys of small sets, and ciphertexts of them.

use solinas_values::{Ciphertext, ClientKey, Control, KeygenOptions, Plain, ServerKey, Type, keygen};

/// Options of a key generation from a seed.
pub(crate) fn options(scheme: &str, params: &str) -> KeygenOptions {
    let (scheme, params, insecure_seed) = (scheme.parse().unwrap(), Some(params.into()), Some(1));
    KeygenOptions { scheme, params, research: true, insecure_seed, ..Default::default() }
}

pub(crate) fn keys(scheme: &str, params: &str) -> (ClientKey, ServerKey) {
    keygen(&options(scheme, params), &Control::default()).unwrap()
}

pub(crate) fn encrypted(client: &ClientKey, ty: Type, shape: Option<usize>, values: Vec<u128>) -> Ciphertext {
    client.encrypt(&Plain::new(ty, shape.map(|count| vec![count]), values).unwrap()).unwrap()
}

//! RSA keys, ciphertexts and signatures from untrusted bytes. A reader returns typed errors and never panics. An accepted key works, and is written back
//! unchanged in every format.

use std::sync::LazyLock;

use solinas_rsa::{
    EncryptionPadding, Error, Hash, KeyUse, KeygenOptions, PrivateFormat, PrivateKey, PublicFormat, PublicKey,
    SignaturePadding,
};
use solinas_schemes::{Control, Entropy};

/// A short key, so that the target tries many inputs per second.
static KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    let options = KeygenOptions { bits: 704, research: true, entropy: Entropy::Insecure(1), parallel: false };
    PrivateKey::generate(&options, &Control::default()).expect("a size that is offered")
});

const PADDINGS: [SignaturePadding; 2] =
    [SignaturePadding::pss(Hash::Sha256), SignaturePadding::Pkcs1 { hash: Hash::Sha256 }];

/// Reads the bytes as keys, as a ciphertext and as a signature.
pub fn run(data: &[u8]) {
    if let Ok(key) = PublicKey::read(data, true) {
        check_public(&key);
    }
    if let Ok(key) = PrivateKey::read(data, true) {
        check_private(&key);
    }
    // If the bytes after the first few are a number below the modulus, all of them reach the paddings.
    let mut block = vec![0; KEY.public_key().size()];
    let tail = block.len().min(data.len());
    block[1..tail.max(1)].copy_from_slice(&data[..tail.max(1) - 1]);
    for padding in [EncryptionPadding::oaep(Hash::Sha256), EncryptionPadding::Pkcs1] {
        match KEY.decrypt(&padding, &block) {
            Ok(message) => assert!(Some(message.len()) <= padding.capacity(block.len())),
            // PKCS#1 v1.5 gives another message instead.
            Err(error) => assert!(error == Error::Decryption && padding != EncryptionPadding::Pkcs1),
        }
        let _ = KEY.decrypt(&padding, data);
    }
    for padding in PADDINGS {
        assert_eq!(KEY.public_key().verify(padding, data, &block), Err(Error::Verification));
        let _ = KEY.public_key().verify(padding, &block, data);
    }
}

/// A key in every format.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for format in [PrivateFormat::Pkcs8, PrivateFormat::Pkcs1] {
        seeds.extend(KEY.to_der(format).map(|der| der.to_vec()));
        seeds.extend(KEY.to_pem(format).map(|pem| pem.as_bytes().to_vec()));
    }
    for format in [PublicFormat::Spki, PublicFormat::Pkcs1] {
        seeds.extend(KEY.public_key().to_der(format));
        seeds.extend(KEY.public_key().to_pem(format).map(String::into_bytes));
    }
    seeds.extend(KEY.to_encrypted_der(b"passphrase"));
    seeds
}

fn check_public(key: &PublicKey) {
    let any = key.key_use() == KeyUse::Any;
    for format in [PublicFormat::Spki, PublicFormat::Pkcs1].into_iter().take(if any { 2 } else { 1 }) {
        let (der, pem) = (key.to_der(format).expect("a checked key"), key.to_pem(format).expect("a checked key"));
        assert_eq!(PublicKey::read(&der, true).as_ref(), Ok(key));
        assert_eq!(PublicKey::read(pem.as_bytes(), true).as_ref(), Ok(key));
    }
    match key.encrypt(&EncryptionPadding::Pkcs1, b"message") {
        Ok(ciphertext) => assert!(any && ciphertext.len() == key.size()),
        Err(error) => assert!(!any && matches!(error, Error::KeyUse { .. }), "{error}"),
    }
}

fn check_private(key: &PrivateKey) {
    check_public(key.public_key());
    let formats = if key.public_key().key_use() == KeyUse::Any { 2 } else { 1 };
    for format in [PrivateFormat::Pkcs8, PrivateFormat::Pkcs1].into_iter().take(formats) {
        let (der, pem) = (key.to_der(format).expect("a checked key"), key.to_pem(format).expect("a checked key"));
        for bytes in [&der[..], pem.as_bytes()] {
            let again = PrivateKey::read(bytes, true).expect("what was written can be read");
            assert_eq!(*again.to_der(format).expect("a checked key"), *der);
        }
    }
    // Factors that are not prime give wrong results, which must not be returned.
    for padding in PADDINGS {
        match key.sign(padding, b"message") {
            Ok(signature) => key.public_key().verify(padding, b"message", &signature).expect("a signature of ours"),
            Err(error) => {
                assert!(matches!(error, Error::Fault | Error::NoRoom { .. } | Error::KeyUse { .. }), "{error}")
            }
        }
    }
}

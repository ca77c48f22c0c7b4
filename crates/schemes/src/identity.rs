//! What the id of a key pair is a hash of.

use ciborium::Value;
use serde::Serialize;

use crate::KeyId;

/// The id of a key pair, and its version.
///
/// An id of version 2 is the BLAKE3 hash of all that a public key consists of: the scheme, the parameters without their security claims, whether the key
/// was made from a chosen seed, the public seed, and the digest of the words of the public key. So nobody can make another public key with the same id.
/// An id of version 1, which early development versions made, leaves out some of these parts: all words under TFHE, numbers of the parameters under the
/// other schemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    id: KeyId,
    public_digest: Option<[u8; 32]>,
}

/// The parts of a public key, without the digest of its words.
#[derive(Debug, Clone, Copy)]
pub struct IdentityParts<'a, L> {
    /// Name of the scheme in a header.
    pub scheme: &'a str,
    /// The parameters, as a header holds them.
    pub literal: &'a L,
    /// Fields of the parameters that are security claims. They are left out.
    pub claims: &'a [&'a str],
    /// Whether the key was made from a chosen seed.
    pub insecure: bool,
    /// The public seed. Empty if the scheme has none.
    pub public_seed: &'a [u8],
}

impl<L: Serialize> IdentityParts<'_, L> {
    /// The identity of version 2 of the key whose public words have this digest.
    pub fn identity(&self, public_digest: [u8; 32]) -> Identity {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 key id 2");
        let (literal, insecure) = (deterministic_cbor(self.literal, self.claims), [u8::from(self.insecure)]);
        // The last part will name the holders of a shared key.
        let parts: [&[u8]; 6] = [self.scheme.as_bytes(), &literal, &insecure, self.public_seed, &public_digest, &[]];
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Identity { id: KeyId(hasher.finalize().into()), public_digest: Some(public_digest) }
    }
}

impl Identity {
    /// An identity of version 1.
    pub fn version_1(id: KeyId) -> Self {
        Self { id, public_digest: None }
    }

    /// The id.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The digest of the words of the public key. `None` for version 1.
    pub fn public_digest(&self) -> Option<&[u8; 32]> {
        self.public_digest.as_ref()
    }

    /// Whether the id binds the whole public key: it is of version 2.
    pub fn binds_key(&self) -> bool {
        self.public_digest.is_some()
    }
}

/// BLAKE3 of words in little-endian order.
pub(crate) fn digest_of_words<'a>(words: impl IntoIterator<Item = &'a [u64]>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for words in words {
        match cfg!(target_endian = "little") {
            true => hasher.update(bytemuck::cast_slice(words)),
            false => words.iter().fold(&mut hasher, |hasher, word| hasher.update(&word.to_le_bytes())),
        };
    }
    hasher.finalize().into()
}

/// The deterministic CBOR (RFC 8949, section 4.2.1) of a struct of numbers and texts, without the fields `left_out`.
fn deterministic_cbor(value: &impl Serialize, left_out: &[&str]) -> Vec<u8> {
    let bytes = Value::serialized(value).ok().and_then(|mut value| {
        if let Value::Map(fields) = &mut value {
            fields.retain(|(key, _)| !key.as_text().is_some_and(|key| left_out.contains(&key)));
        }
        encode(sorted(value)?)
    });
    // Parameters are structs of numbers and texts, which always have this form.
    bytes.unwrap_or_else(|| unreachable!("parameters have a CBOR form"))
}

/// Sorts the fields of all maps by their encoded keys.
fn sorted(value: Value) -> Option<Value> {
    Some(match value {
        Value::Map(fields) => {
            let mut keyed = Vec::with_capacity(fields.len());
            for (key, value) in fields {
                keyed.push((encode(key.clone())?, key, sorted(value)?));
            }
            keyed.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Map(keyed.into_iter().map(|(_, key, value)| (key, value)).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect::<Option<_>>()?),
        other => other,
    })
}

fn encode(value: Value) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(&value, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Literal {
        name: &'static str,
        n: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        bits: Option<f64>,
        claim: f64,
    }

    const LITERAL: Literal = Literal { name: "toy", n: 7, bits: Some(0.5), claim: 128.0 };

    fn parts(literal: &Literal) -> IdentityParts<'_, Literal> {
        IdentityParts { scheme: "s", literal, claims: &["claim"], insecure: false, public_seed: &[1, 2] }
    }

    #[test]
    fn cbor_is_sorted_and_has_no_claims() {
        // {"n": 7, "bits": 0.5 as a half, "name": "toy"}: shorter keys first.
        let wanted = [&[0xa3, 0x61, b'n', 7, 0x64][..], b"bits", &[0xf9, 0x38, 0, 0x64], b"name", &[0x63], b"toy"];
        assert_eq!(deterministic_cbor(&LITERAL, &["claim"]), wanted.concat());
    }

    #[test]
    fn every_part_changes_the_id_and_claims_do_not() {
        let id = parts(&LITERAL).identity([3; 32]).id();
        let renamed = Literal { name: "toy2", ..LITERAL };
        let others = [
            IdentityParts { scheme: "t", ..parts(&LITERAL) }.identity([3; 32]),
            parts(&renamed).identity([3; 32]),
            parts(&Literal { bits: None, ..LITERAL }).identity([3; 32]),
            IdentityParts { insecure: true, ..parts(&LITERAL) }.identity([3; 32]),
            IdentityParts { public_seed: &[1], ..parts(&LITERAL) }.identity([3; 32]),
            parts(&LITERAL).identity([4; 32]),
        ];
        assert!(others.iter().all(|other| other.id() != id && other.binds_key()));
        assert_eq!(parts(&Literal { claim: 999.0, ..LITERAL }).identity([3; 32]).id(), id);
    }

    #[test]
    fn digests_depend_on_the_words_alone() {
        let words = [1u64, 2, 3];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(digest_of_words([&words[..1], &words[1..]]), *blake3::hash(&bytes).as_bytes());
    }
}

//! Keys as DER and PEM: PKCS#1 (RFC 8017, A.1), PKCS#8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280).

use super::error::{Error, Result};
use super::pem::{self, PemBlock};
use super::private::Parts;
use super::public::rng;
use super::{KeyUse, PrivateKey, PublicKey, passphrase};
use der::asn1::{BitStringRef, OctetStringRef, UintRef};
use der::{Decode, Encode, SecretDocument};
use pem_rfc7468::LineEnding;
use solinas_bigint::Natural;
use zeroize::Zeroizing;

/// Line that precedes a PEM block if the key was made from a chosen seed. Readers ignore text outside the block (RFC
/// 7468, section 2).
const INSECURE: &str = "INSECURE: made from a chosen seed, for tests only";
/// Number of bytes in which a PEM block is searched. A private key of 16,384 bits takes 13 KB.
const MAX_TEXT: usize = 1 << 20;

const PUBLIC: Wanted = Wanted { what: "public", formats: "SubjectPublicKeyInfo or PKCS#1", end: "PUBLIC KEY" };
const PRIVATE: Wanted = Wanted { what: "private", formats: "PKCS#8 or PKCS#1", end: "PRIVATE KEY" };

/// Format of a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublicFormat {
    /// SubjectPublicKeyInfo, `BEGIN PUBLIC KEY`. Most programs read this format.
    #[default]
    Spki,
    /// PKCS#1, `BEGIN RSA PUBLIC KEY`.
    Pkcs1,
}

/// Format of a private key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrivateFormat {
    /// PKCS#8, `BEGIN PRIVATE KEY`. Most programs read this format.
    #[default]
    Pkcs8,
    /// PKCS#1, `BEGIN RSA PRIVATE KEY`.
    Pkcs1,
}

/// The kind of key that a reader expects, for its error messages.
#[derive(Clone, Copy)]
struct Wanted {
    what: &'static str,
    formats: &'static str,
    /// End of the PEM labels of this kind.
    end: &'static str,
}

impl Wanted {
    fn malformed(self, detail: impl Into<String>) -> Error {
        Error::Malformed { what: self.what, detail: detail.into(), formats: self.formats }
    }

    fn der(self, error: &der::Error) -> Error {
        self.malformed(format!("the DER does not parse: {error}"))
    }
}

/// PEM label of a PKCS#8 key that is encrypted with a passphrase.
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";

/// What DER holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Spki,
    Pkcs1Public,
    Pkcs8,
    Pkcs1Private,
    Encrypted,
}

impl Content {
    /// Recognizes a key by its structure. A label of PEM may say something else, as OpenSSL allows.
    fn of(der: &[u8]) -> Option<Self> {
        if passphrase::algorithm(der).is_some() {
            Some(Self::Encrypted)
        } else if pkcs8::PrivateKeyInfoRef::from_der(der).is_ok() {
            Some(Self::Pkcs8)
        } else if pkcs1::RsaPrivateKeyRef::from_der(der).is_ok() {
            Some(Self::Pkcs1Private)
        } else if pkcs1::RsaPublicKeyRef::from_der(der).is_ok() {
            Some(Self::Pkcs1Public)
        } else {
            spki::SubjectPublicKeyInfoRef::from_der(der).is_ok().then_some(Self::Spki)
        }
    }

    const fn is_private(self) -> bool {
        matches!(self, Self::Pkcs8 | Self::Pkcs1Private | Self::Encrypted)
    }
}

/// A key in DER, before it is parsed.
struct Block {
    content: Content,
    der: Zeroizing<Vec<u8>>,
    insecure: bool,
}

/// Returns DER input unchanged, or decodes the first PEM block that holds a key of the kind. Other blocks, such as certificates, may precede it.
fn open(bytes: &[u8], wanted: Wanted) -> Result<Block> {
    let text = bytes.get(..bytes.len().min(MAX_TEXT)).unwrap_or_default();
    let mut labels = Vec::new();
    let (mut other_kind, mut refused) = (false, None);
    for block in pem::blocks(text) {
        match content(&block, wanted) {
            Ok((content, der)) if content.is_private() == (wanted.what == PRIVATE.what) => {
                let before = String::from_utf8_lossy(block.before);
                return Ok(Block { content, der, insecure: before.contains(INSECURE) });
            }
            Ok(_) => other_kind = true,
            Err(error) if block.label.ends_with(wanted.end) => drop(refused.get_or_insert(error)),
            Err(_) if block.label.ends_with("PRIVATE KEY") || block.label.ends_with("PUBLIC KEY") => other_kind = true,
            Err(_) => {}
        }
        labels.push(block.label);
    }
    if let Some(error) = refused {
        return Err(error);
    }
    if let Some(label) = labels.first() {
        return Err(match (other_kind, wanted.what == PRIVATE.what) {
            (true, true) => wanted.malformed("it is a public key"),
            (true, false) => Error::PrivateKeyGiven,
            _ if label.contains("CERTIFICATE") => wanted
                .malformed("the PEM block is a CERTIFICATE, whose key `openssl x509 -in FILE -noout -pubkey` prints"),
            _ => wanted.malformed(format!("the PEM block is a {label}")),
        });
    }
    // In every format read here, the DER is a SEQUENCE.
    if bytes.first() == Some(&0x30) {
        let der = Zeroizing::new(bytes.to_vec());
        let private = wanted.what == PRIVATE.what;
        return match Content::of(&der) {
            Some(content) if content.is_private() != private && private => Err(wanted.malformed("it is a public key")),
            Some(content) if content.is_private() != private => Err(Error::PrivateKeyGiven),
            Some(content) => Ok(Block { content, der, insecure: false }),
            None => Err(unreadable(&der, wanted)),
        };
    }
    Err(wanted.malformed(match std::str::from_utf8(text) {
        Ok(_) => "no line says -----BEGIN",
        Err(_) => "it is neither DER nor text",
    }))
}

/// The content of a block and its DER.
fn content(block: &PemBlock<'_>, wanted: Wanted) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    if block.is_encrypted() {
        return Err(Error::Encryption { detail: "it has the header Proc-Type of RFC 1421".to_owned() });
    }
    let der = block.decode().map_err(|detail| wanted.malformed(format!("the PEM does not parse: {detail}")))?;
    match (Content::of(&der), block.label) {
        (Some(content), _) => Ok((content, der)),
        (None, ENCRYPTED) => Ok((Content::Encrypted, der)),
        (None, "PUBLIC KEY" | "RSA PUBLIC KEY" | "PRIVATE KEY" | "RSA PRIVATE KEY") => Err(unreadable(&der, wanted)),
        (None, label) => Err(wanted.malformed(format!("the PEM block is a {label}"))),
    }
}

/// The reason why DER is no key of the kind.
fn unreadable(der: &[u8], wanted: Wanted) -> Error {
    let error = match wanted.what == PRIVATE.what {
        true => pkcs8::PrivateKeyInfoRef::from_der(der).err(),
        false => spki::SubjectPublicKeyInfoRef::from_der(der).err(),
    };
    error.map_or_else(|| wanted.malformed("the DER does not parse"), |error| wanted.der(&error))
}

fn number(value: UintRef<'_>) -> Natural {
    Natural::from_be_bytes(value.as_bytes())
}

impl PublicKey {
    /// Reads a public key from PEM (the first public key of a text, in any layout that OpenSSL reads) or DER, as
    /// SubjectPublicKeyInfo or PKCS#1. The contents of a block decide its format, and not its label. A modulus below 2048 bits or a public exponent below 65537 needs `research`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes do not parse. [`Error::PrivateKeyGiven`] for a private key.
    /// [`Error::Algorithm`] for a key of another algorithm. The errors of [`Self::new`] for numbers out of range.
    pub fn read(bytes: &[u8], research: bool) -> Result<Self> {
        let block = open(bytes, PUBLIC)?;
        match block.content {
            Content::Pkcs1Public => Self::from_pkcs1(&block.der, research),
            _ => Self::from_spki(&block.der, research),
        }
    }

    fn from_spki(der: &[u8], research: bool) -> Result<Self> {
        let info = spki::SubjectPublicKeyInfoRef::from_der(der).map_err(|e| PUBLIC.der(&e))?;
        let key_use = KeyUse::read(&info.algorithm, |detail| PUBLIC.malformed(detail))?;
        let key = info
            .subject_public_key
            .as_bytes()
            .ok_or_else(|| PUBLIC.malformed("the key does not consist of whole bytes"))?;
        Ok(Self::from_pkcs1(key, research)?.with_use(key_use))
    }

    fn from_pkcs1(der: &[u8], research: bool) -> Result<Self> {
        let key = pkcs1::RsaPublicKeyRef::from_der(der).map_err(|e| PUBLIC.der(&e))?;
        Self::new(number(key.modulus), number(key.public_exponent), research)
    }

    /// Encodes the key as DER.
    ///
    /// # Errors
    /// [`Error::KeyUse`] if the key is restricted to PSS and the format is PKCS#1, which cannot express the
    /// restriction. [`Error::Malformed`] if the encoder fails.
    pub fn to_der(&self, format: PublicFormat) -> Result<Vec<u8>> {
        if format == PublicFormat::Pkcs1 {
            self.key_use().check_any("PKCS#1, which cannot express that")?;
        }
        let (n, e) = (self.modulus().to_be_bytes(), self.exponent().to_be_bytes());
        let encode = || {
            let key =
                pkcs1::RsaPublicKeyRef { modulus: UintRef::new(&n)?, public_exponent: UintRef::new(&e)? }.to_der()?;
            match format {
                PublicFormat::Pkcs1 => Ok(key),
                PublicFormat::Spki => self.key_use().write(|algorithm| {
                    spki::SubjectPublicKeyInfoRef { algorithm, subject_public_key: BitStringRef::from_bytes(&key)? }
                        .to_der()
                }),
            }
        };
        encode().map_err(|e: der::Error| PUBLIC.der(&e))
    }

    /// Encodes the key as PEM.
    ///
    /// # Errors
    /// The errors of [`Self::to_der`].
    pub fn to_pem(&self, format: PublicFormat) -> Result<String> {
        let label = match format {
            PublicFormat::Spki => "PUBLIC KEY",
            PublicFormat::Pkcs1 => "RSA PUBLIC KEY",
        };
        pem_rfc7468::encode_string(label, LineEnding::LF, &self.to_der(format)?)
            .map_err(|e| PUBLIC.malformed(e.to_string()))
    }
}

impl PrivateKey {
    /// Reads a private key from PEM (the first private key of a text, in any layout that OpenSSL reads) or DER, as PKCS#8
    /// or PKCS#1. The contents of a block decide its format, and not its label. Checks that all its numbers are consistent. A modulus below 2048 bits or a public exponent below 65537 needs `research`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes do not parse. [`Error::Encrypted`] for an encrypted key. [`Error::Encryption`]
    /// for an encryption of RFC 1421. [`Error::Algorithm`] for a key of another algorithm. The errors of
    /// [`Self::from_primes`] for numbers out of range.
    pub fn read(bytes: &[u8], research: bool) -> Result<Self> {
        Self::read_block(bytes, None, research)
    }

    /// Reads a private key as [`Self::read`] does, and also PKCS#8 encrypted with a passphrase (PBES2, RFC 8018). If
    /// the key is not encrypted, the passphrase is ignored.
    ///
    /// # Errors
    /// [`Error::Passphrase`] if the passphrase does not decrypt the key. The errors of [`Self::read`].
    pub fn read_encrypted(bytes: &[u8], passphrase: &[u8], research: bool) -> Result<Self> {
        Self::read_block(bytes, Some(passphrase), research)
    }

    fn read_block(bytes: &[u8], passphrase: Option<&[u8]>, research: bool) -> Result<Self> {
        let block = open(bytes, PRIVATE)?;
        let mut key = match block.content {
            Content::Encrypted => Self::from_encrypted(&block.der, passphrase, research),
            Content::Pkcs1Private => Self::from_pkcs1(&block.der, research),
            _ => Self::from_pkcs8(&block.der, research),
        }?;
        key.set_insecure(block.insecure);
        Ok(key)
    }

    fn from_encrypted(der: &[u8], passphrase: Option<&[u8]>, research: bool) -> Result<Self> {
        let key = passphrase::unlock(der, passphrase.ok_or(Error::Encrypted)?)?;
        // About one wrong passphrase in 256 yields bytes with valid block padding.
        if pkcs8::PrivateKeyInfoRef::from_der(&key).is_err() {
            return Err(Error::Passphrase);
        }
        Self::from_pkcs8(&key, research)
    }

    fn from_pkcs8(der: &[u8], research: bool) -> Result<Self> {
        let info = pkcs8::PrivateKeyInfoRef::from_der(der).map_err(|e| PRIVATE.der(&e))?;
        let key_use = KeyUse::read(&info.algorithm, |detail| PRIVATE.malformed(detail))?;
        let mut key = Self::from_pkcs1(info.private_key.as_bytes(), research)?;
        key.set_use(key_use);
        Ok(key)
    }

    fn from_pkcs1(der: &[u8], research: bool) -> Result<Self> {
        let key = pkcs1::RsaPrivateKeyRef::from_der(der).map_err(|e| PRIVATE.der(&e))?;
        if key.other_prime_infos.is_some() {
            return Err(PRIVATE.malformed("it has more than two primes"));
        }
        let secret = |value| Zeroizing::new(number(value));
        let parts = Parts {
            d: secret(key.private_exponent),
            p: secret(key.prime1),
            q: secret(key.prime2),
            dp: secret(key.exponent1),
            dq: secret(key.exponent2),
            qinv: secret(key.coefficient),
        };
        Self::from_parts(number(key.modulus), number(key.public_exponent), parts, research)
    }

    /// Encodes the key as DER.
    ///
    /// # Errors
    /// The errors of [`PublicKey::to_der`].
    pub fn to_der(&self, format: PrivateFormat) -> Result<Zeroizing<Vec<u8>>> {
        let key_use = self.public_key().key_use();
        if format == PrivateFormat::Pkcs1 {
            key_use.check_any("PKCS#1, which cannot express that")?;
        }
        let bytes = |value: &Natural| Zeroizing::new(value.to_be_bytes());
        let (n, e) = (bytes(self.public_key().modulus()), bytes(self.public_key().exponent()));
        let parts = self.parts();
        let [d, p, q, dp, dq, qinv] =
            [&parts.d, &parts.p, &parts.q, &parts.dp, &parts.dq, &parts.qinv].map(|part| bytes(part));
        let encode = || {
            let key = SecretDocument::encode_msg(&pkcs1::RsaPrivateKeyRef {
                modulus: UintRef::new(&n)?,
                public_exponent: UintRef::new(&e)?,
                private_exponent: UintRef::new(&d)?,
                prime1: UintRef::new(&p)?,
                prime2: UintRef::new(&q)?,
                exponent1: UintRef::new(&dp)?,
                exponent2: UintRef::new(&dq)?,
                coefficient: UintRef::new(&qinv)?,
                other_prime_infos: None,
            })?;
            Ok(match format {
                PrivateFormat::Pkcs1 => key,
                PrivateFormat::Pkcs8 => key_use.write(|algorithm| {
                    let key = OctetStringRef::new(key.as_bytes())?;
                    SecretDocument::encode_msg(&pkcs8::PrivateKeyInfoRef::new(algorithm, key))
                })?,
            })
        };
        encode().map(|der| der.to_bytes()).map_err(|e: der::Error| PRIVATE.der(&e))
    }

    /// Encodes the key as PEM. If the key was made from a chosen seed, a line that says so precedes the block.
    ///
    /// # Errors
    /// The errors of [`Self::to_der`].
    pub fn to_pem(&self, format: PrivateFormat) -> Result<Zeroizing<String>> {
        let label = match format {
            PrivateFormat::Pkcs8 => "PRIVATE KEY",
            PrivateFormat::Pkcs1 => "RSA PRIVATE KEY",
        };
        self.pem(label, &self.to_der(format)?)
    }

    /// Encodes the key as PKCS#8 DER, encrypted with a passphrase by scrypt and AES-256-CBC.
    ///
    /// # Errors
    /// [`Error::Entropy`] if there is no randomness. [`Error::Encryption`] if the encoder fails.
    pub fn to_encrypted_der(&self, passphrase: &[u8]) -> Result<Vec<u8>> {
        passphrase::lock(&self.to_der(PrivateFormat::Pkcs8)?, passphrase, &mut rng()?)
    }

    /// Encodes the key as PKCS#8 PEM, encrypted as by [`Self::to_encrypted_der`]. See also [`Self::to_pem`].
    ///
    /// # Errors
    /// The errors of [`Self::to_encrypted_der`].
    pub fn to_encrypted_pem(&self, passphrase: &[u8]) -> Result<Zeroizing<String>> {
        self.pem(ENCRYPTED, &self.to_encrypted_der(passphrase)?)
    }

    fn pem(&self, label: &str, der: &[u8]) -> Result<Zeroizing<String>> {
        let block = pem_rfc7468::encode_string(label, LineEnding::LF, der);
        let block = Zeroizing::new(block.map_err(|e| PRIVATE.malformed(e.to_string()))?);
        Ok(if self.is_insecure() { Zeroizing::new(format!("{INSECURE}\n{}", *block)) } else { block })
    }
}

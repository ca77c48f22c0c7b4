//! Identities of what the service stores: tenants, blobs, jobs and tokens.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use ulid::Ulid;

/// A person or a group with data of its own. Only authentication and the operator's commands make this value, so a query without it does not compile.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(String);

/// A text that does not have the form of an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}; give {form}")]
pub struct BadId {
    text: String,
    what: &'static str,
    form: &'static str,
}

impl BadId {
    pub(crate) fn new(text: &str, what: &'static str, form: &'static str) -> Self {
        Self { text: text.chars().take(80).collect(), what, form }
    }
}

impl Tenant {
    /// The tenant of this name. The name is also the name of a folder.
    ///
    /// # Errors
    /// [`BadId`] unless it has 1 to 40 lower-case letters, digits and hyphens, and begins with a letter.
    pub(crate) fn new(name: &str) -> Result<Self, BadId> {
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        let rest = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        match begins && rest && name.len() <= 40 {
            true => Ok(Self(name.to_owned())),
            false => Err(BadId::new(
                name,
                "the name of a tenant",
                "1 to 40 lower-case letters, digits and hyphens, with a letter first",
            )),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The BLAKE3 hash of the bytes of a blob, as the text `b3-` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub(crate) struct Digest(String);

impl Digest {
    const PREFIX: &str = "b3-";

    pub(crate) fn of(hash: &blake3::Hash) -> Self {
        Self(format!("{}{}", Self::PREFIX, hash.to_hex()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The hexadecimal digits.
    pub(crate) fn hex(&self) -> &str {
        &self.0[Self::PREFIX.len()..]
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Digest {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let hash = text.strip_prefix(Self::PREFIX).and_then(|hex| blake3::Hash::from_hex(hex).ok());
        match hash.as_ref().map(Self::of) {
            Some(digest) if digest.0 == text => Ok(digest),
            _ => Err(BadId::new(text, "a digest", "`b3-` and 64 lower-case hexadecimal digits")),
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The identity of a job, of an upload or of a request: a ULID, which sorts by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(Ulid);

impl Id {
    /// A new identity.
    pub(crate) fn new() -> Self {
        let mut random = [0; 16];
        // The clock alone identifies it where the system has no randomness. An equal identity is refused by the store.
        let _ = getrandom::fill(&mut random);
        Self(Ulid::from_parts(crate::time::now() as u64, u128::from_le_bytes(random)))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        match Ulid::from_string(text) {
            Ok(id) if id.to_string() == text => Ok(Self(id)),
            _ => Err(BadId::new(text, "an identity", "the 26 characters that the service gave")),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What the holder of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read everything of the tenant.
    Read,
    /// Upload, submit, cancel and delete jobs. It includes `read`.
    Jobs,
    /// Register and delete keys. It includes `read`.
    Keys,
    /// Read the metrics of the whole service.
    Admin,
    /// Compute jobs on a further machine. Tokens with this scope belong to no tenant, and open the listener for workers alone.
    Work,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Read, Self::Jobs, Self::Keys, Self::Admin, Self::Work];

    /// The name in tokens and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Jobs => "jobs",
            Self::Keys => "keys",
            Self::Admin => "admin",
            Self::Work => "work",
        }
    }
}

impl FromStr for Scope {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let found = Self::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| BadId::new(text, "a scope", "read, jobs, keys, admin or work"))
    }
}

/// A bearer token: 256 random bits. The store keeps its hash alone.
pub struct Token(String);

impl Token {
    /// The beginning of the tokens of clients.
    pub(crate) const CLIENT: &str = "slk_";
    /// The beginning of the tokens of workers.
    pub(crate) const WORKER: &str = "slw_";

    /// A new token with this beginning.
    ///
    /// # Errors
    /// If the operating system has no randomness.
    pub(crate) fn new(prefix: &str) -> Result<Self, getrandom::Error> {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut random = [0; 43];
        getrandom::fill(&mut random)?;
        let text: String = random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 64)])).collect();
        Ok(Self(format!("{prefix}{text}")))
    }

    /// The token, to be shown once.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

/// Shows no secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The hash under which the store knows a token. The bits of a hash do not tell how near a guessed token is, so that the time of a look-up does not either.
pub(crate) fn token_hash(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_read_back_and_others_are_refused() {
        let (digest, id) = (Digest::of(&blake3::hash(b"x")), Id::new());
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert_eq!(id.to_string().parse::<Id>().unwrap(), id);
        for text in ["", "b3-", "../../etc/passwd", &digest.to_string().to_uppercase(), digest.hex()] {
            assert!(text.parse::<Digest>().is_err() && text.parse::<Id>().is_err(), "{text}");
        }
        for name in ["", "-a", "A", "a/b", "..", "1a", &"a".repeat(41)] {
            assert!(Tenant::new(name).is_err(), "{name}");
        }
        assert_eq!(Tenant::new("lab-1").unwrap().as_str(), "lab-1");
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (a, b) = (Token::new(Token::CLIENT).unwrap(), Token::new(Token::CLIENT).unwrap());
        assert_eq!((a.secret().len(), a.secret().starts_with("slk_")), (47, true));
        assert_ne!(a.secret(), b.secret());
        assert_eq!(format!("{a:?}"), "Token(..)");
    }
}

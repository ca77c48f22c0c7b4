//! Facts about a key that the library computes, in place of what a file says of itself.

use ciborium::Value;
use serde::Serialize;
use solinas_schemes::Identity;
use solinas_schemes::security::SecurityClaim;
use solinas_schemes::tfhe::ParamsLiteral;

use crate::{Error, KeyFiles, KeyId, Kind, Reader, Result, tfhe};

/// The identity of a key, checked against the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyIdentity {
    /// Whether the id binds the whole public key. Ids of early development versions do not.
    pub binds_key: bool,
    /// The fingerprint of the key: that of its id of version 2. `None` for a server key of TFHE whose id is older: the file does not hold the public key.
    pub fingerprint: Option<String>,
    /// The id of version 2, 64 hexadecimal digits.
    pub id_version_2: Option<KeyId>,
    /// The reason why the file is not the key that it names. The file was made to look like that of another key.
    pub forged: Option<String>,
}

impl KeyIdentity {
    fn of(identity: &Identity, bound: Option<Identity>) -> Self {
        let id = bound.map(|bound| bound.id());
        let fingerprint = id.map(|id| id.fingerprint().to_string());
        Self { binds_key: identity.binds_key(), fingerprint, id_version_2: id, forged: None }
    }
}

/// Reads what the id of a key binds, and compares. None for a file that is no key, or whose scheme or parameters this version does not know.
pub(crate) fn key_identity(reader: &Reader) -> Option<KeyIdentity> {
    if !matches!(reader.kind(), Kind::ClientKey | Kind::PublicKey | Kind::ServerKey) {
        return None;
    }
    match (scheme(reader)?.identity)(reader) {
        Ok(identity) => Some(identity),
        Err(Error::Field { field, reason, .. }) if ["key_id", "id_version", "public_digest"].contains(&&*field) => {
            let forged = Some(format!("{field}: {reason}"));
            Some(KeyIdentity { binds_key: false, fingerprint: None, id_version_2: None, forged })
        }
        Err(Error::Section { section, reason, .. }) => {
            let forged = Some(format!("section {section}: {reason}"));
            Some(KeyIdentity { binds_key: false, fingerprint: None, id_version_2: None, forged })
        }
        // Parameters that this version does not know.
        Err(_) => None,
    }
}

/// What a scheme computes about its keys.
struct Scheme {
    name: &'static str,
    identity: fn(&Reader) -> Result<KeyIdentity>,
    security: fn(&Reader) -> Result<SecurityClaim>,
}

static SCHEMES: &[Scheme] = &[
    Scheme { name: tfhe::SCHEME, identity: tfhe_identity, security: |reader| Ok(tfhe::params(reader)?.security()) },
    #[cfg(feature = "bgv")]
    Scheme::of::<solinas_schemes::bgv::Bgv>(),
    #[cfg(feature = "ntru")]
    Scheme::of::<solinas_schemes::ntru::Ntru>(),
    #[cfg(feature = "lwe")]
    Scheme::of::<solinas_schemes::lwe::Lwe>(),
    #[cfg(feature = "gh")]
    Scheme::of::<crate::gh::Gh>(),
];

#[cfg_attr(not(feature = "all"), allow(dead_code, reason = "a build with TFHE alone has no such scheme"))]
impl Scheme {
    /// A scheme whose key files hold the public key.
    const fn of<S: KeyFiles>() -> Self {
        let identity = |reader: &Reader| {
            let key = S::read_public(reader)?;
            Ok(KeyIdentity::of(S::identity(&key), Some(S::bound_identity(&key))))
        };
        Self { name: S::NAME, identity, security: |reader| Ok(S::security(&S::read_params(reader)?)) }
    }
}

/// The scheme that a file names. None if this build does not know it.
fn scheme(reader: &Reader) -> Option<&'static Scheme> {
    let name = reader.header().scheme.as_deref()?;
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

fn tfhe_identity(reader: &Reader) -> Result<KeyIdentity> {
    match reader.kind() {
        Kind::ClientKey => {
            let key = tfhe::read_client(reader)?;
            Ok(KeyIdentity::of(key.identity(), Some(key.bound_identity()?)))
        }
        Kind::PublicKey => {
            let key = tfhe::read_public(reader)?;
            Ok(KeyIdentity::of(key.identity(), Some(key.bound_identity())))
        }
        _ => {
            let identity = tfhe::stated_identity(reader)?;
            Ok(KeyIdentity::of(&identity, identity.binds_key().then_some(identity)))
        }
    }
}

/// The security of the parameters of a file, as this version of the library computes or states it. None if it does not know the parameters.
pub(crate) fn security(reader: &Reader) -> Option<SecurityClaim> {
    (scheme(reader)?.security)(reader).ok()
}

/// Takes the security claims of a file out of its parameters. Anybody can write a claim to a file.
pub(crate) fn take_claims(params: &mut Value) -> Vec<(String, Value)> {
    let Value::Map(fields) = params else { return Vec::new() };
    let is_claim = |key: &Value| key.as_text().is_some_and(|key| ParamsLiteral::CLAIMS.contains(&key));
    let taken = fields.extract_if(.., |(key, _)| is_claim(key));
    taken.filter_map(|(key, value)| Some((key.into_text().ok()?, value))).collect()
}

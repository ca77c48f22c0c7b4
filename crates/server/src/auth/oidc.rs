//! Tokens of an issuer of OpenID Connect: JSON Web Tokens, signed by one of the keys that the issuer publishes.

use super::{Claimed, OidcSettings, signature};
use crate::error::{Code, Error, Problem};
use crate::id::Scope;
use crate::outbound::{self, Outbound};
use axum::body::to_bytes;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// By how much the clock of the issuer may differ.
const LEEWAY_SECONDS: u64 = 60;
/// Time for an answer of the issuer, from the connection to its last byte.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of an answer of the issuer.
const ANSWER: usize = 1 << 19;
/// Bytes of a token. Tokens with many groups have a few thousand.
const TOKEN: usize = 1 << 14;
/// The signatures that a token may have.
const ALGORITHMS: &str = "RS256, ES256 or EdDSA";

/// Ages of the issuer's keys, and pauses between two requests for them.
struct Times {
    /// Keys of this age are fetched again.
    fresh: Duration,
    /// Keys of this age are used no longer.
    keep: Duration,
    /// Pause after a request for an unknown key.
    unknown: Duration,
    /// Pause after the issuer could not be reached.
    failed: Duration,
}

const TIMES: Times = Times {
    fresh: Duration::from_secs(600),
    keep: Duration::from_secs(3600),
    unknown: Duration::from_secs(60),
    failed: Duration::from_secs(5),
};

/// What checks the tokens of an issuer.
pub(crate) struct Oidc {
    settings: OidcSettings,
    outbound: Outbound,
    times: Times,
    keys: RwLock<Option<Arc<Keys>>>,
    /// Held by the request that asks the issuer.
    tries: Mutex<Tries>,
}

/// The keys of an issuer, by their identities.
struct Keys {
    by_id: BTreeMap<String, (Algorithm, DecodingKey)>,
    fetched: Instant,
}

#[derive(Default)]
struct Tries {
    /// When an unknown key was last asked for.
    unknown: Option<Instant>,
    /// When the last try failed, if it did.
    failed: Option<Instant>,
}

/// The part of the issuer's description that matters here.
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

impl Oidc {
    /// # Errors
    /// [`Error::Authorities`].
    pub(crate) fn new(settings: OidcSettings) -> Result<Self, Error> {
        signature::install();
        let outbound = outbound::client(&settings.issuer)?;
        Ok(Self { settings, outbound, times: TIMES, keys: RwLock::default(), tries: Mutex::default() })
    }

    /// The tenant and the scopes that a valid token names.
    pub(crate) async fn check(&self, token: &str) -> Result<Claimed, Problem> {
        if token.len() > TOKEN {
            return Err(self.refused(&format!("the token has more than {TOKEN} bytes")));
        }
        let header = decode_header(token)
            .map_err(|_| self.refused(&format!("the token is not a JSON Web Token that is signed by {ALGORITHMS}")))?;
        if header.crit.is_some() {
            return Err(self.refused("the token demands an extension that the service does not know"));
        }
        let kid = header.kid.ok_or_else(|| self.refused("the header of the token does not name its key (`kid`)"))?;
        let keys = self.keys_with(&kid).await?;
        let (algorithm, key) = keys
            .by_id
            .get(&kid)
            .ok_or_else(|| self.refused("the key of the token is none that the issuer publishes for signatures"))?;
        // The key decides on the algorithm, and the token has to agree.
        let mut validation = Validation::new(*algorithm);
        validation.set_required_spec_claims(&["aud", "exp", "iss"]);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_SECONDS;
        let data = decode(token, key, &validation).map_err(|error| self.refused(reason(error.kind())))?;
        self.claimed(&data.claims)
    }

    fn claimed(&self, claims: &Map<String, Value>) -> Result<Claimed, Problem> {
        let OidcSettings { tenant_claim, scopes, scopes_claim, .. } = &self.settings;
        let forbidden = |detail: String| {
            Problem::new(
                Code::Forbidden,
                detail,
                "let the operator of the service and of the issuer agree on the claims",
            )
        };
        let tenant = claims.get(tenant_claim).and_then(Value::as_str);
        let tenant = tenant.ok_or_else(|| forbidden(format!("the token has no text as its claim `{tenant_claim}`")))?;
        let mut scopes = scopes.clone();
        if let Some(name) = scopes_claim {
            let words: Vec<_> = match claims.get(name) {
                Some(Value::String(text)) => text.split_ascii_whitespace().collect(),
                Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            scopes.retain(|scope| words.contains(&scope.name()));
            if scopes.is_empty() {
                return Err(forbidden(format!("the claim `{name}` of the token has no scope that the service gives")));
            }
        }
        // The settings were checked, but for those of a Rust program.
        scopes.retain(|scope| *scope != Scope::Admin);
        Ok(Claimed { tenant: tenant.to_owned(), scopes })
    }

    fn refused(&self, detail: &str) -> Problem {
        Problem::new(Code::Unauthorized, detail, format!("get a new token from {}", self.settings.issuer))
    }

    /// Keys that are new enough.
    fn keys(&self, age: Duration) -> Option<Arc<Keys>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        keys.filter(|keys| keys.fetched.elapsed() < age)
    }

    /// The keys of the issuer, which are fetched if they are old or lack this one.
    async fn keys_with(&self, kid: &str) -> Result<Arc<Keys>, Problem> {
        let has = |keys: &Arc<Keys>| keys.by_id.contains_key(kid);
        if let Some(keys) = self.keys(self.times.fresh).filter(has) {
            return Ok(keys);
        }
        let former = self.keys(self.times.keep).filter(has);
        let mut tries = match (self.tries.try_lock(), &former) {
            (Ok(tries), _) => tries,
            // Another request asks the issuer.
            (Err(_), Some(keys)) => return Ok(Arc::clone(keys)),
            (Err(_), None) => self.tries.lock().await,
        };
        match (self.refresh(&mut tries, kid).await, former) {
            (Ok(keys), _) | (Err(_), Some(keys)) => Ok(keys),
            (Err(pause), None) => Err(Problem::new(
                Code::Busy,
                format!("the keys of the issuer {} cannot be fetched", self.settings.issuer),
                "try again later; the log of the service has the cause",
            )
            .retry_after(pause.as_secs_f64())),
        }
    }

    /// Fetches the keys, unless that was done just now.
    ///
    /// # Errors
    /// The time to the next try, if the last one failed.
    async fn refresh(&self, tries: &mut Tries, kid: &str) -> Result<Arc<Keys>, Duration> {
        let known = self.keys(self.times.fresh);
        let (last, pause) = match &known {
            // They were fetched while this request waited.
            Some(keys) if keys.by_id.contains_key(kid) => return Ok(Arc::clone(keys)),
            Some(_) => (tries.unknown, self.times.unknown),
            None => (tries.failed, self.times.failed),
        };
        let left = last.and_then(|at| pause.checked_sub(at.elapsed()));
        match (left, &known, tries.failed) {
            (Some(_), Some(keys), None) => return Ok(Arc::clone(keys)),
            (Some(left), ..) => return Err(left),
            (None, ..) => {}
        }
        if known.is_some() {
            tries.unknown = Some(Instant::now());
        }
        let fetched = tokio::time::timeout(PATIENCE, self.fetch()).await;
        match fetched.unwrap_or_else(|_| Err(format!("it did not answer within {} seconds", PATIENCE.as_secs()))) {
            Ok(by_id) => {
                tries.failed = None;
                let keys = Arc::new(Keys { by_id, fetched: Instant::now() });
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&keys));
                Ok(keys)
            }
            Err(error) => {
                tracing::error!(issuer = self.settings.issuer, error, "the keys of the issuer were not fetched");
                tries.failed = Some(Instant::now());
                Err(pause)
            }
        }
    }

    async fn fetch(&self) -> Result<BTreeMap<String, (Algorithm, DecodingKey)>, String> {
        let issuer = &self.settings.issuer;
        let path = ".well-known/openid-configuration";
        let found: Discovery = self.json(&format!("{}/{path}", issuer.trim_end_matches('/'))).await?;
        if found.issuer != *issuer {
            return Err(format!("its description is that of the issuer {:?}", found.issuer));
        }
        if !may_fetch(&found.jwks_uri, issuer.starts_with("http:")) {
            return Err(format!("the address of its keys, {:?}, does not begin with https://", found.jwks_uri));
        }
        let set: KeySet = self.json(&found.jwks_uri).await?;
        Ok(set.keys.into_iter().filter_map(usable).collect())
    }

    /// A document of the issuer. Redirections are not followed.
    async fn json<T: DeserializeOwned>(&self, address: &str) -> Result<T, String> {
        let uri = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let answer = self.outbound.get(uri).await.map_err(|error| format!("{address}: {}", outbound::cause(&error)))?;
        if answer.status() != 200 {
            return Err(format!("{address} answered {}", answer.status()));
        }
        let body = to_bytes(axum::body::Body::new(answer.into_body()), ANSWER).await;
        let body = body.map_err(|_| format!("{address} sent more than {ANSWER} bytes, or broke off"))?;
        serde_json::from_slice(&body).map_err(|error| format!("{address}: {error}"))
    }
}

/// A key for signatures that tokens may have. An issuer may publish others too.
fn usable(key: Value) -> Option<(String, (Algorithm, DecodingKey))> {
    let key: Jwk = serde_json::from_value(key).ok()?;
    let algorithm = match &key.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::OctetKeyPair(point) if point.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        _ => return None,
    };
    let is_for_signatures = key.common.public_key_use.as_ref().is_none_or(|usage| *usage == PublicKeyUse::Signature);
    let is_for_another = key.common.key_algorithm.is_some_and(|named| named != algorithm.into());
    let decoding = DecodingKey::from_jwk(&key).ok()?;
    key.common.key_id.filter(|_| is_for_signatures && !is_for_another).map(|kid| (kid, (algorithm, decoding)))
}

/// What is wrong with a token.
fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidSignature => "the signature of the token is wrong",
        ErrorKind::InvalidAlgorithm => "the algorithm of the token is not that of its key",
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not yet valid",
        ErrorKind::InvalidAudience => "the token is for another audience",
        ErrorKind::InvalidIssuer => "the token is of another issuer",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks one of the claims `aud`, `exp` and `iss`",
        _ => "the token is damaged",
    }
}

/// Whether the service fetches from an address: one with encryption, or one of this machine if `local` allows that.
pub(super) fn may_fetch(address: &str, local: bool) -> bool {
    let Ok(uri) = address.parse::<axum::http::Uri>() else { return false };
    let Some(host) = uri.host() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_local = || host == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    match uri.scheme_str() {
        Some("https") => true,
        Some("http") => local && is_local(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::issuer::{AUDIENCE, Issuer, Signer};
    use super::*;

    const NEVER: Duration = Duration::from_secs(1 << 20);
    const AT_ONCE: Duration = Duration::ZERO;

    fn oidc(issuer: &Issuer, times: Times) -> Oidc {
        let text = format!("issuer = {:?}\naudience = {AUDIENCE:?}", issuer.url);
        Oidc { times, ..Oidc::new(toml::from_str(&text).unwrap()).unwrap() }
    }

    #[tokio::test]
    async fn old_keys_are_fetched_again_and_used_for_a_time_while_the_issuer_fails() {
        let (issuer, signer) = (Issuer::new(), Signer::ec());
        issuer.publish(&[signer.jwk("ec")]);
        let token = signer.token("ec", &issuer.claims("lab"));
        let mut oidc = oidc(&issuer, Times { fresh: AT_ONCE, keep: NEVER, unknown: NEVER, failed: NEVER });
        for fetches in 1..=2 {
            assert_eq!(oidc.check(&token).await.unwrap().tenant, "lab");
            assert_eq!(issuer.fetched(), fetches);
        }
        issuer.fail();
        for _ in 0..2 {
            assert_eq!(oidc.check(&token).await.unwrap().tenant, "lab");
        }
        oidc.times.keep = AT_ONCE;
        assert_eq!(oidc.check(&token).await.unwrap_err().code, Code::Busy);
        // Nothing is fetched so soon after a failure, and then it is.
        issuer.publish(&[signer.jwk("ec")]);
        assert_eq!(oidc.check(&token).await.unwrap_err().code, Code::Busy);
        oidc.times.failed = AT_ONCE;
        oidc.check(&token).await.unwrap();
        // A removed key ends, although the token has not expired.
        issuer.publish(&[]);
        assert_eq!(oidc.check(&token).await.unwrap_err().code, Code::Unauthorized);
    }

    #[tokio::test]
    async fn an_unknown_key_is_asked_for_once_in_a_while() {
        let (issuer, signer) = (Issuer::new(), Signer::ec());
        issuer.publish(&[signer.jwk("known")]);
        let mut oidc = oidc(&issuer, Times { fresh: NEVER, keep: NEVER, unknown: NEVER, failed: AT_ONCE });
        let [known, new] = ["known", "new"].map(|kid| signer.token(kid, &issuer.claims("lab")));
        oidc.check(&known).await.unwrap();
        for _ in 0..3 {
            assert_eq!(oidc.check(&new).await.unwrap_err().code, Code::Unauthorized);
        }
        assert_eq!(issuer.fetched(), 2);
        issuer.fail();
        oidc.times.unknown = AT_ONCE;
        assert_eq!(oidc.check(&new).await.unwrap_err().code, Code::Busy);
        // Whether the key exists is not known, so the token has to wait.
        oidc.times.unknown = NEVER;
        assert_eq!(oidc.check(&new).await.unwrap_err().code, Code::Busy);
        oidc.check(&known).await.unwrap();
        issuer.publish(&[signer.jwk("known"), signer.jwk("new")]);
        oidc.times.unknown = AT_ONCE;
        oidc.check(&new).await.unwrap();
    }

    #[test]
    fn only_this_machine_is_asked_without_encryption() {
        for address in
            ["https://issuer.example/realms/a", "http://127.0.0.1:1/keys", "http://[::1]/", "http://localhost"]
        {
            assert!(may_fetch(address, true), "{address}");
        }
        for address in ["http://issuer.example", "http://127.0.0.1.example", "ftp://localhost", "/keys", "issuer", ""] {
            assert!(!may_fetch(address, true), "{address}");
        }
        assert!(!may_fetch("http://127.0.0.1/keys", false) && may_fetch("https://keys.example", false));
    }
}

//! Ways to authenticate beside the tokens of the service: a token of an OpenID Connect issuer, or a client's certificate.

mod certificate;
#[cfg(test)]
#[path = "../../tests/service/issuer.rs"]
#[allow(dead_code, reason = "the tests of the service use the rest")]
mod issuer;
mod oidc;
mod settings;
mod signature;

pub(crate) use certificate::Certificate;
pub(crate) use oidc::Oidc;
pub use settings::{Client, MutualTls, OidcSettings};

use crate::id::Scope;
use axum::http::{HeaderMap, header};

/// A caller whose tenant is not yet looked up.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) tenant: String,
    pub(crate) scopes: Vec<Scope>,
}

/// The token in the header `Authorization`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

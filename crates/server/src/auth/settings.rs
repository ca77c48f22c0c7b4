//! The settings of OpenID Connect and of clients' certificates.

use super::oidc::may_fetch;
use crate::id::{Scope, Tenant};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// An issuer of OpenID Connect, whose tokens the service takes. The issuer decides on the tenant, so it is trusted by all tenants.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcSettings {
    /// The address, exactly as in the claim `iss`. It begins with `https://`; one on this machine may begin with `http://`.
    pub issuer: String,
    /// The name of this service in the claim `aud`.
    pub audience: String,
    /// The claim with the name of the tenant.
    #[serde(default = "tenant_claim")]
    pub tenant_claim: String,
    /// What a token allows, at most. `admin` and `work` are refused.
    #[serde(default = "scopes")]
    pub scopes: Vec<Scope>,
    /// The claim with the scopes of a token, as a text with spaces or as a list. Without it, each token has all of `scopes`.
    pub scopes_claim: Option<String>,
}

/// Certificates that identify clients.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutualTls {
    /// The certificates, in PEM, of the authorities that sign those of clients.
    pub client_ca: PathBuf,
    /// The clients, by the DNS name in the Subject Alternative Name of their certificates, in lower case.
    #[serde(default)]
    pub clients: BTreeMap<String, Client>,
}

/// What the holder of a certificate may do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The tenant.
    pub tenant: String,
    /// What the certificate allows. `work` is refused.
    #[serde(default = "scopes")]
    pub scopes: Vec<Scope>,
}

fn tenant_claim() -> String {
    "tenant".into()
}

fn scopes() -> Vec<Scope> {
    vec![Scope::Read, Scope::Jobs, Scope::Keys]
}

impl OidcSettings {
    /// Finds a mistake.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !may_fetch(&self.issuer, true) {
            return Err("the issuer is an address that begins with https://".into());
        }
        if self.audience.is_empty() || self.tenant_claim.is_empty() {
            return Err("audience and tenant_claim are not empty".into());
        }
        if self.scopes.contains(&Scope::Admin) {
            return Err("the scope admin belongs to tokens of the service and to certificates alone".into());
        }
        no_worker(&self.scopes)
    }
}

/// A worker computes for all tenants, so its token names none.
fn no_worker(scopes: &[Scope]) -> Result<(), String> {
    match scopes.contains(&Scope::Work) {
        true => Err("the scope work belongs to tokens of workers alone".into()),
        false => Ok(()),
    }
}

impl MutualTls {
    /// Finds a mistake.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (name, client) in &self.clients {
            // Such a name would match no certificate.
            if name.is_empty() || name.contains('*') || name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return Err(format!("{name:?} is not the DNS name of a client, in lower case and without `*`"));
            }
            Tenant::new(&client.tenant).map_err(|bad| bad.to_string())?;
            no_worker(&client.scopes)?;
        }
        Ok(())
    }
}

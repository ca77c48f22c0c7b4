//! Clients that identify themselves by a certificate.

use super::{Client, MutualTls};
use crate::error::{Code, Problem};
use rustls::ServerConnection;
use std::sync::Arc;
use webpki::EndEntityCert;

/// The DNS names in the Subject Alternative Name of a client's certificate. Each request of the connection has it as an extension.
///
/// The common name does not count: it is free text, and the name constraints of an authority do not bind it.
#[derive(Debug, Clone)]
pub(crate) struct Certificate(Arc<[String]>);

impl Certificate {
    /// The certificate of a connection, which TLS has checked. None if the client sent none.
    pub(crate) fn of(connection: &ServerConnection) -> Option<Self> {
        let certificate = EndEntityCert::try_from(connection.peer_certificates()?.first()?).ok()?;
        Some(Self(certificate.valid_dns_names().map(str::to_ascii_lowercase).collect()))
    }

    /// The client with one of the names. A name with a wildcard is none of a client.
    pub(crate) fn find<'a>(&self, settings: Option<&'a MutualTls>) -> Result<&'a Client, Problem> {
        let clients = settings.map(|settings| &settings.clients);
        let mut found = self.0.iter().filter_map(|name| clients?.get(name));
        let refused = |detail: String| {
            let fix =
                "send a token, or let the operator of the service add one name of the certificate to its settings";
            Problem::new(Code::Forbidden, detail, fix)
        };
        match (found.next(), found.next()) {
            (Some(client), None) => Ok(client),
            (Some(_), Some(_)) => Err(refused("the certificate has the names of several clients".into())),
            (None, _) => Err(refused(format!("no client has a DNS name of the certificate: {}", self.0.join(", ")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_name_is_that_of_a_client() {
        let settings: MutualTls = toml::from_str(
            "client_ca = 'ca.pem'\n[clients.'a.test']\ntenant = 'a'\n[clients.'b.test']\ntenant = 'b'\nscopes = ['read']",
        )
        .unwrap();
        let find = |names: &[&str]| {
            let names = Certificate(names.iter().map(|name| (*name).to_owned()).collect());
            names.find(Some(&settings)).map(|client| client.tenant.clone()).map_err(|problem| problem.detail)
        };
        assert_eq!(find(&["x.test", "b.test"]).unwrap(), "b");
        assert!(find(&["a.test", "b.test"]).unwrap_err().contains("several"));
        assert!(find(&["*.test", "x.a.test"]).unwrap_err().contains("*.test, x.a.test"));
        assert!(find(&[]).is_err());
    }
}

//! Requests of this program to other servers.

use crate::error::Error;
use axum::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::sync::Arc;
use std::time::Duration;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A client for one server.
pub(crate) type Outbound = Client<HttpsConnector<HttpConnector>, Body>;

/// A client for the server with this address. It trusts the authorities of the system.
///
/// # Errors
/// [`Error::Authorities`].
pub(crate) fn client(address: &str) -> Result<Outbound, Error> {
    let provider = rustls::crypto::ring::default_provider();
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT));
    connector.set_nodelay(true);
    let tls = match address.starts_with("https:") {
        true => HttpsConnectorBuilder::new().with_provider_and_native_roots(provider).map_err(Error::Authorities)?,
        false => HttpsConnectorBuilder::new().with_tls_config(without_authorities(provider)?),
    };
    let connector = tls.https_or_http().enable_http1().wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

/// For a server that speaks HTTP without encryption.
fn without_authorities(provider: rustls::crypto::CryptoProvider) -> Result<rustls::ClientConfig, Error> {
    let versions =
        rustls::ClientConfig::builder_with_provider(Arc::new(provider)).with_safe_default_protocol_versions();
    let config = versions.map_err(|error| Error::System(format!("TLS cannot be used: {error}")))?;
    Ok(config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

/// The innermost cause of an error, which says most.
pub(crate) fn cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().map(ToString::to_string).unwrap_or_default()
}

//! Certificates of the service. They are read again from time to time, since programs that renew them replace the files.

use crate::error::Error;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;

/// The files of a certificate, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, then those of its authorities up to the root.
    pub certificates: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl TlsFiles {
    fn read(&self) -> Result<ServerConfig, Error> {
        let bad = |path: &PathBuf| {
            let path = path.clone();
            move |error: String| Error::Certificate { path, error }
        };
        let pem = |path: &PathBuf| {
            let bad = bad(path);
            move |error: rustls::pki_types::pem::Error| bad(error.to_string())
        };
        let certificates = CertificateDer::pem_file_iter(&self.certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(pem(&self.certificates))?;
        if certificates.is_empty() {
            return Err(bad(&self.certificates)("it has no certificate".into()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(pem(&self.key))?;
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key));
        let mut config = config.map_err(|error| bad(&self.certificates)(error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// What accepts encrypted connections.
pub(crate) struct Tls {
    files: TlsFiles,
    acceptor: RwLock<TlsAcceptor>,
}

impl Tls {
    pub(crate) fn new(files: TlsFiles) -> Result<Self, Error> {
        let acceptor = RwLock::new(Arc::new(files.read()?).into());
        Ok(Self { files, acceptor })
    }

    /// Reads the files again. Connections that exist go on. If a file is wrong, the former certificate stays.
    pub(crate) fn reload(&self) {
        match self.files.read() {
            Ok(config) => *self.acceptor.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config).into(),
            Err(error) => tracing::error!(%error, "the former certificate stays"),
        }
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

//! Certificates of the service. They are read again from time to time, since programs that renew them replace the files.

use crate::error::Error;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage};

/// The files of a certificate, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, then those of its authorities up to the root.
    pub certificates: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl TlsFiles {
    /// The settings of encrypted connections, and the certificate.
    fn read(&self, client_ca: Option<&Path>) -> Result<(ServerConfig, CertificateDer<'static>), Error> {
        let bad = |path: &PathBuf| {
            let path = path.clone();
            move |error: String| Error::Certificate { path, error }
        };
        let certificates = certificates(&self.certificates).map_err(bad(&self.certificates))?;
        let own = certificates.first().cloned().ok_or_else(|| bad(&self.certificates)(NONE.into()))?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| bad(&self.key)(error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = match client_ca {
            Some(path) => client_verifier(path, &provider)
                .map_err(|error| Error::ClientAuthority { path: path.to_path_buf(), error })?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_client_cert_verifier(verifier).with_single_cert(certificates, key));
        let mut config = config.map_err(|error| bad(&self.certificates)(error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok((config, own))
    }
}

const NONE: &str = "it has no certificate";

/// Whether a certificate is for an authority (CA:TRUE), as `openssl req -x509` makes them without further options. Strict clients take it for no service.
fn is_authority(certificate: &CertificateDer<'_>) -> bool {
    let Ok(end) = EndEntityCert::try_from(certificate) else { return false };
    let now = UnixTime::now();
    let usage = KeyUsage::server_auth();
    let checked = end.verify_for_usage(ALL_VERIFICATION_ALGS, &[], &[], now, usage, None, None);
    matches!(checked, Err(webpki::Error::CaUsedAsEndEntity))
}

/// The certificates of a file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| error.to_string())?;
    if read.is_empty() { Err(NONE.into()) } else { Ok(read) }
}

/// Checks the certificates of clients. A client may have none: it has a token then.
fn client_verifier(client_ca: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(client_ca)? {
        authorities.add(certificate).map_err(|error| error.to_string())?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), Arc::clone(provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| error.to_string())
}

/// What accepts encrypted connections.
pub(crate) struct Tls {
    files: TlsFiles,
    /// The authorities of clients' certificates.
    client_ca: Option<PathBuf>,
    /// The acceptor, and the certificate that it shows.
    current: RwLock<(TlsAcceptor, CertificateDer<'static>)>,
}

impl Tls {
    pub(crate) fn new(files: TlsFiles, client_ca: Option<PathBuf>) -> Result<Self, Error> {
        let (config, own) = files.read(client_ca.as_deref())?;
        if is_authority(&own) {
            let path = files.certificates.display();
            tracing::warn!(
                "the certificate in {path} is that of an authority (CA:TRUE), which many clients refuse; make one with \
                 basicConstraints=CA:FALSE"
            );
        }
        Ok(Self { files, client_ca, current: RwLock::new((Arc::new(config).into(), own)) })
    }

    /// Reads the files again. Connections that exist go on. If a file is wrong, the former certificate stays.
    pub(crate) fn reload(&self) {
        match self.files.read(self.client_ca.as_deref()) {
            Ok((config, own)) => {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                if own != current.1 {
                    tracing::info!("the service shows a new certificate");
                }
                *current = (Arc::new(config).into(), own);
            }
            Err(error) => tracing::error!(%error, "the former certificate stays"),
        }
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    #[test]
    fn certificates_of_authorities_are_known() {
        let key = KeyPair::generate().unwrap();
        for (is_ca, want) in [
            (IsCa::NoCa, false),
            (IsCa::ExplicitNoCa, false),
            (IsCa::Ca(BasicConstraints::Unconstrained), true),
            (IsCa::Ca(BasicConstraints::Constrained(0)), true),
        ] {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.is_ca = is_ca;
            assert_eq!(is_authority(params.self_signed(&key).unwrap().der()), want);
        }
    }
}

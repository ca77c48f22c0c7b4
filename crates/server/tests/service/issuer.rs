//! An issuer of OpenID Connect on this machine, and its tokens.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const AUDIENCE: &str = "solinas";
/// The key of RSA, which `ring` does not make: `openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048`.
const RSA: &[u8] = include_bytes!("keys/issuer-rsa.pem");

#[derive(Default)]
struct State {
    /// Documents by their paths.
    documents: Mutex<BTreeMap<&'static str, String>>,
    /// How often the keys were fetched.
    fetched: AtomicUsize,
    ended: AtomicBool,
}

/// A running issuer. Without keys, it answers that nothing is there.
pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<State>,
}

impl Issuer {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<State>::default();
        let of_thread = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if of_thread.ended.load(Ordering::Relaxed) {
                    return;
                }
                // The service may break off.
                let _ = answer(&of_thread, stream.unwrap());
            }
        });
        Self { url, state }
    }

    /// Publishes keys, and the description that leads to them.
    pub(crate) fn publish(&self, keys: &[Value]) {
        let description = json!({ "issuer": self.url, "jwks_uri": format!("{}/keys", self.url) });
        self.show("/.well-known/openid-configuration", description.to_string());
        self.show("/keys", json!({ "keys": keys }).to_string());
    }

    pub(crate) fn show(&self, path: &'static str, document: String) {
        self.state.documents.lock().unwrap().insert(path, document);
    }

    /// Answers nothing but errors from now on.
    pub(crate) fn fail(&self) {
        self.state.documents.lock().unwrap().clear();
    }

    /// How often the keys were fetched.
    pub(crate) fn fetched(&self) -> usize {
        self.state.fetched.load(Ordering::Relaxed)
    }

    /// Claims of a valid token for a tenant.
    pub(crate) fn claims(&self, tenant: &str) -> Value {
        json!({ "iss": self.url, "aud": AUDIENCE, "exp": now() + 600, "tenant": tenant })
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn answer(state: &State, mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default();
    if path == "/keys" {
        state.fetched.fetch_add(1, Ordering::Relaxed);
    }
    let document = state.documents.lock().unwrap().get(path).cloned();
    let (status, body) = document.map_or(("404 Not Found", String::new()), |body| ("200 OK", body));
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// A key that signs tokens.
pub(crate) enum Signer {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Signer {
    pub(crate) fn rsa() -> Self {
        let der = PrivatePkcs8KeyDer::from_pem_slice(RSA).unwrap();
        Self::Rsa(RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap())
    }

    pub(crate) fn ec() -> Self {
        let (curve, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let der = EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(curve, der.as_ref(), &random).unwrap())
    }

    pub(crate) fn ed() -> Self {
        let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed(Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap())
    }

    /// The name of its algorithm in tokens.
    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
        }
    }

    /// The public key, as the issuer publishes it.
    pub(crate) fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Rsa(key) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "kid": kid, "use": "sig", "n": encoded(&public.n), "e": encoded(&public.e) })
            }
            Self::Ec(key) => {
                let point = key.public_key().as_ref();
                let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
                json!({ "kty": "EC", "crv": "P-256", "kid": kid, "alg": "ES256", "x": x, "y": y })
            }
            Self::Ed(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": encoded(key.public_key().as_ref()) })
            }
        }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Self::Ec(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    /// A token with these claims.
    pub(crate) fn token(&self, kid: &str, claims: &Value) -> String {
        token(&json!({ "alg": self.algorithm(), "kid": kid, "typ": "JWT" }), claims, |message| self.sign(message))
    }
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A token with any header.
pub(crate) fn token(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", encoded(&signature))
}

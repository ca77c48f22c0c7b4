//! Requests of the page, and their answers.

use crate::programs::{auction, operation};
use serde::Deserialize;
use serde_json::{Value, json};
use solinas_runtime::{Ciphertext, ClientKey, Control, KeygenOptions, Plain, Program, ServerKey, Type, keygen};
use zeroize::Zeroizing;

/// What the page asks for. A request that takes a file has the bytes beside it.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Makes a key pair of a set of TFHE.
    Keygen {
        /// The name of the set. Without one, the default set.
        params: Option<String>,
    },
    /// Takes the client key in the file.
    Load,
    /// Takes the server key in the file, which belongs to the client key.
    LoadServer,
    /// Gives the file of the client key.
    ClientKey,
    /// Gives the file of the server key.
    ServerKey,
    /// Gives the file of an encrypted value.
    Encrypt {
        /// The type, such as `u16`.
        r#type: String,
        /// The value, in decimal.
        value: String,
    },
    /// Decrypts the ciphertext in the file.
    Decrypt,
    /// Gives the facts that anyone can read in the ciphertext in the file.
    Inspect,
    /// Gives the BLAKE3 digest of the file.
    Digest,
    /// Gives the program of one operation.
    Program {
        /// Its name, such as `add`.
        name: String,
        /// The types of its inputs.
        types: Vec<String>,
    },
    /// Gives the program of a sealed-bid auction.
    Auction {
        /// The number of bidders, 2 to 32.
        bidders: usize,
        /// The type of a bid.
        r#type: String,
    },
}

/// An answer: a value, and the bytes of a file.
#[derive(Debug)]
pub struct Answer {
    /// The value.
    pub value: Value,
    /// The file. It is empty if the request asked for none.
    pub file: Zeroizing<Vec<u8>>,
}

impl Answer {
    fn value(value: Value) -> Self {
        Self { value, file: Zeroizing::default() }
    }

    fn file(file: Vec<u8>) -> Self {
        Self { value: Value::Null, file: Zeroizing::new(file) }
    }
}

/// The reason why there is no answer. It is text for people.
#[derive(Debug)]
pub struct Fault(pub String);

impl<E: std::error::Error> From<E> for Fault {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The keys of the page.
#[derive(Debug, Default)]
pub struct Session {
    client: Option<ClientKey>,
    server: Option<ServerKey>,
}

impl Session {
    /// Answers a request.
    ///
    /// # Errors
    /// From the library; a request that needs a key before there is one.
    pub fn answer(&mut self, request: Request, file: &[u8], control: &Control<'_>) -> Result<Answer, Fault> {
        Ok(match request {
            Request::Keygen { params } => {
                let (client, server) = keygen(&KeygenOptions { params, ..Default::default() }, control)?;
                let about = about(&client);
                (self.client, self.server) = (Some(client), Some(server));
                Answer::value(about)
            }
            Request::Load => {
                let client = ClientKey::from_bytes(file)?;
                let about = about(&client);
                (self.client, self.server) = (Some(client), None);
                Answer::value(about)
            }
            Request::LoadServer => {
                let server = ServerKey::from_bytes(file)?;
                if server.key_id() != self.client()?.key_id() {
                    return Err(Fault(
                        "the server key is of another key pair: choose the files of one key generation".into(),
                    ));
                }
                self.server = Some(server);
                Answer::value(Value::Null)
            }
            Request::ClientKey => Answer { value: Value::Null, file: self.client()?.to_bytes()? },
            Request::ServerKey => match &self.server {
                Some(server) => Answer::file(server.to_bytes()?),
                None => return Err(Fault("the page has no server key: load the file server.key too".into())),
            },
            Request::Encrypt { r#type, value } => {
                let plain = Plain::parse(r#type.parse()?, &[value], None)?;
                Answer::file(self.client()?.encrypt(&plain)?.to_bytes()?)
            }
            Request::Decrypt => {
                let plain = self.client()?.decrypt(&Ciphertext::from_bytes(file)?)?;
                Answer::value(
                    json!({ "type": plain.ty.to_string(), "shape": plain.shape, "values": plain.to_strings() }),
                )
            }
            Request::Inspect => {
                let ciphertext = Ciphertext::from_bytes(file)?;
                Answer::value(json!({
                    "type": ciphertext.ty().to_string(),
                    "shape": ciphertext.shape(),
                    "key_id": ciphertext.key_id().to_string(),
                    "bytes": file.len(),
                }))
            }
            Request::Digest => Answer::value(format!("b3-{}", blake3::hash(file).to_hex()).into()),
            Request::Program { name, types } => {
                let types = types.iter().map(|name| name.parse()).collect::<Result<Vec<Type>, _>>()?;
                described(&operation(&name, &types)?, &name)?
            }
            Request::Auction { bidders, r#type } => described(&auction(bidders, r#type.parse()?)?, "auction")?,
        })
    }

    fn client(&self) -> Result<&ClientKey, Fault> {
        self.client.as_ref().ok_or_else(|| Fault("the page has no keys: make them, or load the file client.key".into()))
    }
}

/// Facts of a key pair.
fn about(key: &ClientKey) -> Value {
    let params = key.params();
    json!({
        "keyId": key.key_id().to_string(),
        "params": params.name,
        "classicalBits": params.classical_bits,
        "log2Failure": params.log2_failure,
        "serverBytes": params.server_key_bytes,
        "weakness": key.weakness(),
    })
}

/// A program, with the types of its inputs and outputs.
fn described(program: &Program, name: &str) -> Result<Answer, Fault> {
    let names = |types: Vec<Type>| types.into_iter().map(|ty| ty.to_string()).collect::<Vec<_>>();
    Ok(Answer::value(json!({
        "text": program.to_json(name)?,
        "inputs": names(program.input_types()),
        "outputs": names(program.output_types()),
    })))
}

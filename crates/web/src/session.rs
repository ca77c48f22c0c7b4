//! Requests of the page, and their answers.

use crate::fault::Fault;
use crate::programs::{auction, operation};
use serde::Deserialize;
use serde_json::{Value, json};
use solinas_values::{Ciphertext, ClientKey, Control, KeygenOptions, Plain, ServerKey, Type, keygen};
use zeroize::Zeroizing;

/// What the page asks for. A request that takes a file has the bytes beside it.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Makes a key pair of a set of TFHE.
    Keygen {
        /// The name of the set. Without one, the default set.
        params: Option<String>,
        /// A seed that makes the keys reproducible, for tests. Such keys protect nothing.
        insecure_seed: Option<u64>,
    },
    /// Takes the keys of a pair: the file is that of the client key, and that of the server key after it, if there is one.
    Load {
        /// The bytes of the client key.
        client_bytes: usize,
    },
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
    /// Gives the BLAKE3 digest of the file.
    Digest,
    /// Gives the text of the program of one operation.
    Program {
        /// Its name, such as `add`.
        name: String,
        /// The types of its inputs.
        types: Vec<String>,
    },
    /// Gives the text of the program of a sealed-bid auction.
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
            Request::Keygen { params, insecure_seed } => {
                let options = KeygenOptions { params, insecure_seed, ..Default::default() };
                let (client, server) = keygen(&options, control)?;
                let about = about(&client)?;
                (self.client, self.server) = (Some(client), Some(server));
                Answer::value(about)
            }
            Request::Load { client_bytes } => {
                let files = file.split_at_checked(client_bytes);
                let (client, server) =
                    files.ok_or_else(|| Fault("the file is shorter than its client key: choose it again".into()))?;
                let client = ClientKey::from_bytes(client)?;
                let server = (!server.is_empty()).then(|| ServerKey::from_bytes(server)).transpose()?;
                if server.as_ref().is_some_and(|server| server.key_id() != client.key_id()) {
                    let text = "the server key is of another key pair: choose the files of one key generation";
                    return Err(Fault(text.into()));
                }
                let about = about(&client)?;
                (self.client, self.server) = (Some(client), server);
                Answer::value(about)
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
            Request::Digest => Answer::value(format!("b3-{}", blake3::hash(file).to_hex()).into()),
            Request::Program { name, types } => {
                let types = types.iter().map(|name| name.parse()).collect::<Result<Vec<Type>, _>>()?;
                Answer::value(operation(&name, &types)?.to_json(&name)?.into())
            }
            Request::Auction { bidders, r#type } => {
                Answer::value(auction(bidders, r#type.parse()?)?.to_json("auction")?.into())
            }
        })
    }

    fn client(&self) -> Result<&ClientKey, Fault> {
        self.client.as_ref().ok_or_else(|| Fault("the page has no keys: make them, or load the file client.key".into()))
    }
}

/// Facts of a key pair.
fn about(key: &ClientKey) -> Result<Value, Fault> {
    let params = key.params();
    Ok(json!({
        "keyId": key.key_id().to_string(),
        "fingerprint": key.fingerprint()?.to_string(),
        "params": params.name,
        "classicalBits": params.classical_bits,
        "serverBytes": params.server_key_bytes,
        "weakness": key.weakness(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(session: &mut Session, request: Value, file: &[u8]) -> Result<Answer, String> {
        let request = serde_json::from_value(request).map_err(|error| error.to_string())?;
        session.answer(request, file, &Control::default()).map_err(|Fault(text)| text)
    }

    #[test]
    fn a_value_is_encrypted_and_decrypted_by_new_and_by_loaded_keys() {
        let mut session = Session::default();
        let made = ask(&mut session, json!({ "do": "keygen", "params": "gates-40" }), b"").unwrap().value;
        assert_eq!((&made["params"], &made["weakness"]), (&json!("gates-40"), &Value::Null));
        let file = ask(&mut session, json!({ "do": "encrypt", "type": "u16", "value": "4800" }), b"").unwrap().file;
        let client = ask(&mut session, json!({ "do": "client_key" }), b"").unwrap().file;
        let server = ask(&mut session, json!({ "do": "server_key" }), b"").unwrap().file;

        let mut other = Session::default();
        let load = json!({ "do": "load", "client_bytes": client.len() });
        assert_eq!(ask(&mut other, load.clone(), &client).unwrap().value, made);
        assert!(ask(&mut other, json!({ "do": "server_key" }), b"").unwrap_err().contains("load the file server.key"));
        let both = [&client[..], &server[..]].concat();
        ask(&mut other, load.clone(), &both).unwrap();
        assert_eq!(ask(&mut other, json!({ "do": "server_key" }), b"").unwrap().file, server);
        let values = ask(&mut other, json!({ "do": "decrypt" }), &file).unwrap().value;
        assert_eq!(values, json!({ "type": "u16", "shape": null, "values": ["4800"] }));

        ask(&mut other, json!({ "do": "keygen", "params": "gates-40" }), b"").unwrap();
        assert!(ask(&mut other, json!({ "do": "decrypt" }), &file).unwrap_err().contains("key"));

        // What fails leaves the keys that were there.
        let own = ask(&mut other, json!({ "do": "client_key" }), b"").unwrap().file;
        let mixed = [&own[..], &server[..]].concat();
        let load_mixed = json!({ "do": "load", "client_bytes": own.len() });
        assert!(ask(&mut session, load_mixed, &mixed).unwrap_err().contains("another key pair"));
        assert!(ask(&mut session, load, &client[1..]).unwrap_err().contains("shorter than its client key"));
        assert_eq!(ask(&mut session, json!({ "do": "client_key" }), b"").unwrap().file, client);
    }

    #[test]
    fn keys_of_a_seed_are_reproducible_and_say_that_they_protect_nothing() {
        let keys = [3, 3, 4].map(|seed| {
            let mut session = Session::default();
            let request = json!({ "do": "keygen", "params": "gates-40", "insecure_seed": seed });
            assert!(ask(&mut session, request, b"").unwrap().value["weakness"].is_string());
            ["client_key", "server_key"].map(|part| ask(&mut session, json!({ "do": part }), b"").unwrap().file)
        });
        assert!(keys[0] == keys[1] && keys[0] != keys[2]);
    }

    /// What a small request may ask for is bounded before anything is made.
    #[test]
    fn small_requests_for_much_memory_are_refused() {
        let mut session = Session::default();
        ask(&mut session, json!({ "do": "keygen", "params": "gates-40", "insecure_seed": 1 }), b"").unwrap();
        for request in [
            json!({ "do": "auction", "bidders": usize::MAX, "type": "u8" }),
            json!({ "do": "auction", "bidders": 32, "type": "u4294967295" }),
            json!({ "do": "program", "name": "add", "types": ["u4294967295", "u8"] }),
            json!({ "do": "program", "name": "add", "types": vec!["u8"; 100_000] }),
            json!({ "do": "encrypt", "type": "u4294967295", "value": "1" }),
            json!({ "do": "encrypt", "type": "u8", "value": "9".repeat(1 << 20) }),
            json!({ "do": "load", "client_bytes": usize::MAX }),
        ] {
            let text = ask(&mut session, request.clone(), b"").unwrap_err();
            assert!(text.len() < 5_000_000, "{}", &text[..100]);
        }
    }

    #[test]
    fn mistakes_have_a_text() {
        let mut session = Session::default();
        for (request, part) in [
            (json!({ "do": "nothing" }), "unknown variant"),
            (json!({ "do": "keygen", "params": "huge" }), "choose one of integers-128"),
            (json!({ "do": "encrypt", "type": "u8", "value": "1" }), "make them, or load the file client.key"),
            (json!({ "do": "client_key" }), "no keys"),
            (json!({ "do": "load", "client_bytes": 4 }), "not a Solinas file"),
            (json!({ "do": "decrypt" }), "no keys"),
            (json!({ "do": "program", "name": "fly", "types": ["u8"] }), "no operation"),
            (json!({ "do": "program", "name": "add", "types": ["v8", "u8"] }), "v8"),
            (json!({ "do": "auction", "bidders": 1, "type": "u8" }), "2 to 32 bidders"),
        ] {
            let text = ask(&mut session, request.clone(), b"text").unwrap_err();
            assert!(text.contains(part), "{request}: {text}");
        }
        let digest = ask(&mut session, json!({ "do": "digest" }), b"").unwrap().value;
        assert_eq!(digest, "b3-af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
        let add =
            ask(&mut session, json!({ "do": "program", "name": "add", "types": ["u8", "u8"] }), b"").unwrap().value;
        assert!(solinas_values::Program::from_json(add.as_str().unwrap()).is_ok());
    }
}

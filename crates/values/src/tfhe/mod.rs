//! TFHE: keys, and ciphertexts of 2-bit blocks or bits.

mod blocks;
mod compact;
mod elements;
mod keys;
mod params;

pub use crate::scheme::bits_only;
pub use blocks::Blocks;
pub use compact::Compact;
pub use elements::Elements;
pub use params::{SCHEME, form_of, info, value_bytes};

use crate::scheme::{self, CiphertextHeader, Encrypt, Pair, Payload, Public, SchemeEntry, Secret};
use crate::{Control, Error, KeygenOptions, ParamsInfo, memory};
use keys::{Client, Open};
use solinas_formats::tfhe::{self as files, ServerFile};
use solinas_formats::{Kind, Reader};
use solinas_schemes::tfhe::{ClientKey, Params};
use std::sync::Arc;

/// The TFHE scheme.
pub(crate) struct Tfhe;

impl SchemeEntry for Tfhe {
    fn name(&self) -> &'static str {
        files::SCHEME
    }

    fn param_names(&self) -> Vec<String> {
        Params::names().into_iter().chain(Params::test_names()).collect()
    }

    fn named(&self, params: &str) -> Option<ParamsInfo> {
        Params::named(params).ok().map(|set| info(&set))
    }

    fn has(&self, params: &str) -> bool {
        Params::named(params).is_ok()
    }

    fn keygen(&self, options: &KeygenOptions, control: &Control<'_>) -> Result<Pair, Error> {
        let params = Params::named(options.params.as_deref().unwrap_or("integers"))?;
        // The key in memory and the bytes of its file.
        memory::check("a server key", &info(&params), 3 * files::stored_server_bytes(&params) as u64, memory::FREE)?;
        let key = ClientKey::generate(&params, options.research, options.insecure_seed.into(), control)?;
        let packing = Arc::new(key.packing_key()?.into());
        let server = ServerFile { key: Arc::new(key.server_key(control)?), packing };
        Ok((Box::new(Client::new(key)), Arc::new(server)))
    }

    fn read_client(&self, reader: &Reader) -> Result<Box<dyn Secret>, Error> {
        Ok(Box::new(Client::new(files::read_client(reader)?)))
    }

    fn read_server(&self, reader: &Reader) -> Result<Arc<dyn Public>, Error> {
        Ok(Arc::new(files::read_server(reader)?))
    }

    fn read_encryption(&self, reader: &Reader) -> Result<Option<Box<dyn Encrypt>>, Error> {
        if reader.header().kind != Kind::PublicKey {
            return Ok(None);
        }
        Ok(Some(Box::new(Open::new(files::read_public(reader)?))))
    }

    fn read_public(&self, reader: &Reader) -> Result<Arc<dyn scheme::Open>, Error> {
        Ok(Arc::new(Open::new(files::read_public(reader)?)))
    }

    fn read_elements(&self, reader: &Reader, about: &CiphertextHeader) -> Result<Arc<dyn Payload>, Error> {
        Ok(Arc::new(Elements::read(reader, about.ty, about.form, about.count)?))
    }
}

//! The Gentry-Halevi scheme: keys, and ciphertexts of bits.

mod elements;
mod keys;

pub use elements::{Bit, Elements};
pub use keys::{Server, info};

use crate::scheme::{self, CiphertextHeader, Encrypt, Pair, SchemeEntry, Secret};
use crate::{Control, Error, KeygenOptions, ParamsInfo, Scheme};
use keys::{Client, Public};
use solinas_formats::{KeyFiles, Kind, Reader, gh as files};
use solinas_schemes::gh::Params;
use std::sync::Arc;

/// The name of the scheme.
pub const SCHEME: Scheme = Scheme::new(files::Gh::NAME);

/// The Gentry-Halevi scheme.
pub(crate) struct Gh;

impl SchemeEntry for Gh {
    fn name(&self) -> &'static str {
        files::Gh::NAME
    }

    fn param_names(&self) -> Vec<String> {
        Params::names().into_iter().map(str::to_owned).collect()
    }

    fn named(&self, params: &str) -> Option<ParamsInfo> {
        Params::named(params).ok().map(|set| info(&set))
    }

    fn has(&self, params: &str) -> bool {
        Params::names().contains(&params)
    }

    fn keygen(&self, options: &KeygenOptions, control: &Control<'_>) -> Result<Pair, Error> {
        let (client, server) = keys::keygen(options, control)?;
        Ok((Box::new(Client::new(client)), Arc::new(Server::new(server))))
    }

    fn read_client(&self, reader: &Reader) -> Result<Box<dyn Secret>, Error> {
        Ok(Box::new(Client::new(files::Gh::read_client(reader)?)))
    }

    fn read_server(&self, reader: &Reader) -> Result<Arc<dyn scheme::Public>, Error> {
        Ok(Arc::new(Server::new(files::Gh::read_server(reader)?)))
    }

    fn read_encryption(&self, reader: &Reader) -> Result<Option<Box<dyn Encrypt>>, Error> {
        Ok(match reader.kind() {
            Kind::ClientKey => None,
            _ => Some(Box::new(Public::new(files::Gh::read_public(reader)?))),
        })
    }

    fn read_elements(&self, reader: &Reader, about: &CiphertextHeader) -> Result<Arc<dyn scheme::Payload>, Error> {
        Ok(Arc::new(Elements::read(reader, about.ty, about.form, about.count)?))
    }
}

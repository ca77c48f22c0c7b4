//! TFHE: every operation bootstraps.

mod blocks;
mod compact;
mod elements;
mod engine;
mod inputs;
mod keys;
mod private;
mod random;
mod trivial;
mod weight;

use crate::engine::{Facts, Operands};
use crate::plans::info;
use crate::scheme::{self, CiphertextHeader, Encrypt, Pair, Payload, Public, SchemeEntry, Secret};
use crate::{Control, Error, Estimate, KeygenOptions, ParamsInfo, memory};
use keys::{Client, Open};
use solinas_circuits::counted;
use solinas_circuits::steps::Kernel;
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

    fn find(&self, params: &str) -> Option<ParamsInfo> {
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
        Ok(Arc::new(elements::Elements::read(reader, about.ty, about.form, about.count)?))
    }

    fn weight(&self, operands: &Operands<'_>, control: &Control<'_>) -> Result<u64, Error> {
        weight::of_operands(operands, control)
    }

    fn cost(
        &self,
        kernel: &Kernel,
        params: &str,
        weight: u64,
        control: &Control<'_>,
    ) -> Result<(Estimate, Vec<Facts>), Error> {
        engine::cost(kernel, &Params::named(params)?, weight, control)
    }

    fn counts(&self, estimate: &Estimate) -> String {
        counted(estimate.bootstraps, "bootstrap")
    }
}

//! The Gentry-Halevi scheme. Exclusive or is a sum, and is a product. Bits are recrypted when the bounds of their noise
//! require it.

mod backend;
mod elements;
mod engine;
mod keys;
mod run;
mod schedule;

#[cfg_attr(not(any(feature = "gpu", feature = "rtl")), allow(unused_imports, reason = "devices use it"))]
pub(crate) use backend::{Backend, KeyWithin};

use crate::engine::Facts;
use crate::scheme::{self, CiphertextHeader, Encrypt, Pair, SchemeEntry, Secret};
use crate::{Control, Error, Estimate, KeygenOptions, ParamsInfo, Scheme};
use keys::{Client, Public, Server, info};
use solinas_circuits::counted;
use solinas_circuits::steps::Kernel;
use solinas_formats::{KeyFiles, Kind, Reader, gh as files};
use solinas_schemes::gh::Params;
use std::sync::Arc;

/// The name of the scheme.
const SCHEME: Scheme = Scheme::new(files::Gh::NAME);

/// The Gentry-Halevi scheme.
pub(crate) struct Gh;

impl SchemeEntry for Gh {
    fn name(&self) -> &'static str {
        files::Gh::NAME
    }

    fn param_names(&self) -> Vec<String> {
        Params::names().into_iter().map(str::to_owned).collect()
    }

    fn find(&self, params: &str) -> Option<ParamsInfo> {
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
        Ok(Arc::new(elements::Elements::read(reader, about.ty, about.form, about.count)?))
    }

    fn cost(
        &self,
        kernel: &Kernel,
        params: &str,
        _: u64,
        control: &Control<'_>,
    ) -> Result<(Estimate, Vec<Facts>), Error> {
        Ok((engine::cost(kernel, &Params::named(params)?, control)?, Facts::fresh(kernel)))
    }

    fn counts(&self, estimate: &Estimate) -> String {
        format!("{}, {}", counted(estimate.recrypts, "recrypt"), counted(estimate.products, "product"))
    }
}

//! NTRU, leveled: bits as ring elements, whose exclusive or is a sum and `and` a product, or vectors of integers modulo a prime in slots.

mod elements;
mod engine;
mod keys;
mod plan;
mod run;

use crate::scheme::{self, About, Encrypt, Pair, Roles, Secret, counted};
use crate::{Control, Error, Estimate, KeygenOptions, ParamsInfo, Program};
use keys::{Client, Public, Server, info};
use solinas_formats::{Kind, Reader, ntru as files};
use solinas_schemes::ntru::{self, Params, Rotation};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The scheme.
pub(crate) struct Ntru;

/// Of 128 bits, and of the least size.
const DEFAULT: &str = "secure-8192-1";

impl Roles for Ntru {
    fn name(&self) -> &'static str {
        files::SCHEME
    }

    fn params(&self) -> Vec<ParamsInfo> {
        Params::names().into_iter().filter_map(|name| Params::named(name).ok()).map(|set| info(&set)).collect()
    }

    fn has(&self, params: &str) -> bool {
        !matches!(Params::named(params), Err(ntru::Error::UnknownParams { .. }))
    }

    fn rotates(&self) -> bool {
        true
    }

    fn keygen(&self, options: &KeygenOptions, control: &Control<'_>) -> Result<Pair, Error> {
        let params = Params::named(options.params.as_deref().unwrap_or(DEFAULT))?;
        control.report(0, 1);
        control.check()?;
        let (client, server) = match options.insecure_seed {
            Some(seed) => ntru::generate_insecure(&params, options.research, seed)?,
            None => ntru::generate(&params, options.research)?,
        };
        control.check()?;
        let watch = |done: usize, of: usize| {
            control.report(done as u64, of as u64);
            if control.check().is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let bootstrap = match params.bootstrapping() {
            Some(_) => Some(client.bootstrap_key(&watch)?),
            None => None,
        };
        let rotations = match options.rotations {
            true => Some(client.rotation_key(&Rotation::all(&params), options.research, &watch)?),
            false => None,
        };
        control.report(1, 1);
        Ok((Box::new(Client::new(client)), Arc::new(Server::new(server, bootstrap, rotations))))
    }

    fn read_client(&self, reader: &Reader) -> Result<Box<dyn Secret>, Error> {
        Ok(Box::new(Client::new(files::read_client(reader)?)))
    }

    fn read_server(&self, reader: &Reader) -> Result<Arc<dyn scheme::Public>, Error> {
        let (hints, bootstrap, rotations) = files::read_server(reader)?;
        Ok(Arc::new(Server::new(hints, bootstrap, rotations)))
    }

    fn read_encryption(&self, reader: &Reader) -> Result<Option<Box<dyn Encrypt>>, Error> {
        Ok(match reader.kind() {
            Kind::ClientKey => None,
            _ => Some(Box::new(Public::new(files::read_public(reader)?))),
        })
    }

    fn read_elements(&self, reader: &Reader, about: &About) -> Result<Arc<dyn scheme::Elements>, Error> {
        Ok(Arc::new(elements::Elements::read(reader, about)?))
    }

    fn cost(&self, program: &Program, params: &str) -> Result<Estimate, Error> {
        engine::cost(program, &Params::named(params)?)
    }

    fn counts(&self, estimate: &Estimate) -> String {
        let rotations = match estimate.rotations {
            0 => String::new(),
            count => format!(", {}", counted(count, "rotation")),
        };
        let bootstraps = counted(estimate.bootstraps, "bootstrap");
        format!("{bootstraps}, {}{rotations}", counted(estimate.products, "product"))
    }
}

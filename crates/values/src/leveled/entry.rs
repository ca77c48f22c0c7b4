//! The entry of a leveled scheme in the registry. It makes and reads keys and ciphertexts.

use super::keys::{Client, Public, Server, info};
use super::payload::Elements;
use super::{Leveled, ParamsOf, memory_bytes};
use crate::scheme::{self, CiphertextHeader, Encrypt, Pair, SchemeEntry, Secret};
use crate::{Control, Error, KeygenOptions, ParamsInfo, memory};
use solinas_formats::{KeyFiles, Kind, Reader};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::leveled::{NoiseModel as _, Params as _};
use std::sync::Arc;

impl<S: Leveled> SchemeEntry for S {
    fn name(&self) -> &'static str {
        S::SCHEME.name()
    }

    fn param_names(&self) -> Vec<String> {
        S::set_names().into_iter().map(str::to_owned).collect()
    }

    fn named(&self, params: &str) -> Option<ParamsInfo> {
        S::named(params).ok().map(|set| info::<S>(&set))
    }

    fn rotates(&self) -> bool {
        S::SLOTS
    }

    fn has(&self, params: &str) -> bool {
        !matches!(S::named(params), Err(SchemeError::UnknownParams { .. }))
    }

    fn keygen(&self, options: &KeygenOptions, control: &Control<'_>) -> Result<Pair, Error> {
        let params = S::named(options.params.as_deref().unwrap_or(S::DEFAULT))?;
        if options.rotations {
            // Parameters for bits have no rotations and return an error.
            params.rotation_noise().map(drop)?;
        }
        check_memory::<S>(&params, options.rotations)?;
        control.report(0, 1);
        control.check()?;
        let (research, entropy) = (options.research, options.insecure_seed.into());
        let (client, server) = S::key_pair(&params, research, options.rotations, entropy, control)?;
        Ok((Box::new(Client::<S>::new(client)), Arc::new(Server::<S>::new(S::resident(server)?))))
    }

    fn read_client(&self, reader: &Reader) -> Result<Box<dyn Secret>, Error> {
        Ok(Box::new(Client::<S>::new(<S as KeyFiles>::read_client(reader)?)))
    }

    fn read_server(&self, reader: &Reader) -> Result<Arc<dyn scheme::Public>, Error> {
        check_memory::<S>(&<S as KeyFiles>::read_params(reader)?, S::holds_rotations(reader))?;
        Ok(Arc::new(Server::<S>::new(S::resident(<S as KeyFiles>::read_server(reader)?)?)))
    }

    fn read_encryption(&self, reader: &Reader) -> Result<Option<Box<dyn Encrypt>>, Error> {
        Ok(match reader.kind() {
            Kind::ClientKey => None,
            _ => Some(Box::new(Public::<S>::new(<S as KeyFiles>::read_public(reader)?))),
        })
    }

    fn read_elements(&self, reader: &Reader, about: &CiphertextHeader) -> Result<Arc<dyn scheme::Payload>, Error> {
        Ok(Arc::new(Elements::<S>::read(reader, about)?))
    }

    fn bytes_of_elements(&self, reader: &Reader) -> Result<u64, Error> {
        Elements::<S>::bytes_of(reader)
    }
}

/// Checks that a server key fits in memory, before anything is made.
///
/// # Errors
/// [`Error::Memory`] if it does not fit. The errors of [`memory::budget`].
fn check_memory<S: Leveled>(params: &ParamsOf<S>, rotations: bool) -> Result<(), Error> {
    const MIB: u64 = 1 << 20;
    let more = if rotations { S::rotation_bytes(params) } else { 0 };
    let (need, limit) = ((memory_bytes::<S>(params) + more) as u64, memory::budget()?);
    if need <= limit {
        return Ok(());
    }
    let (need_mib, limit_mib) = (need.div_ceil(MIB), limit / MIB);
    let remedy = format!(
        "allow {need_mib} MiB by {}, or choose a set of smaller dimension or fewer products (`solinas params`)",
        memory::VARIABLE
    );
    Err(Error::Memory { method: "a server key", params: params.name().into(), need_mib, limit_mib, remedy })
}

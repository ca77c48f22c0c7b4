//! Plans of kernels as values: what a server computes for a program of single values or a circuit, to the last bootstrap.

use super::schedule::Schedule;
use super::{gates, tables};
use crate::planning::KernelSource;
use crate::{Error, KeyId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use solinas_circuits::lut::LutGraph;
use solinas_circuits::{Netlist, Port};
use solinas_formats::{Destination, Header, Kind, Reader, Writer, tfhe as files};
use solinas_schemes::tfhe::Params;
use solinas_schemes::tfhe::params::Family;
use solinas_values::tfhe::form_of;

/// The version of the rules that turn the body of a plan into bootstraps.
pub(super) const VERSION: u32 = 1;

/// The plan of a kernel: all that determines its bootstraps under a parameter set.
#[derive(Clone, PartialEq)]
pub(crate) struct KernelPlan {
    params: Params,
    /// The hash of the program or circuit.
    source: KeyId,
    model: String,
    /// Largest noise weight of the inputs, by [`planned_weight`].
    weight: u64,
    body: Body,
    id: KeyId,
}

/// The computation that a plan describes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// Lookup tables on blocks (the integers family).
    Tables(LutGraph),
    /// Gates on bits (the gates family).
    Gates(Netlist),
}

impl Body {
    /// The name in the header of a file.
    const fn name(&self) -> &'static str {
        match self {
            Self::Tables(_) => "tables",
            Self::Gates(_) => "gates",
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Tables(graph) => cbor(graph),
            Self::Gates(netlist) => cbor(netlist),
        }
    }

    /// The numbers of input and output blocks.
    fn blocks(&self) -> (usize, usize) {
        match self {
            Self::Tables(graph) => (graph.inputs().len(), graph.outputs().len()),
            Self::Gates(netlist) => (netlist.input_bits(), netlist.outputs().iter().map(|port| port.bits.len()).sum()),
        }
    }

    /// Waves of bootstraps for inputs of at most this noise weight.
    pub(crate) fn schedule(&self, weight: u64) -> Schedule {
        match self {
            Self::Tables(graph) => tables::schedule(graph),
            Self::Gates(netlist) => gates::schedule(netlist, weight),
        }
    }
}

pub(super) fn cbor(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let written = ciborium::into_writer(value, &mut bytes);
    written.map(|()| bytes).map_err(|error| Error::Internal(format!("a plan cannot be written: {error}")))
}

fn parse<T: DeserializeOwned>(reader: &Reader, bytes: &[u8]) -> Result<T, Error> {
    let mut rest = bytes;
    let value = ciborium::from_reader(&mut rest).map_err(|error| match error {
        ciborium::de::Error::Semantic(_, problem) => reader.section_error("body", problem),
        _ => reader.section_error("body", "it is not the body of a plan"),
    })?;
    if rest.is_empty() { Ok(value) } else { Err(reader.section_error("body", "it goes on after its end").into()) }
}

/// The noise weight for which a plan is made. Plans refresh inputs of a larger weight before anything else, so they are all the same.
pub(crate) fn planned_weight(params: &Params, weight: u64) -> u64 {
    let refreshed = match params.family() {
        Family::Gates => gates::REFRESHED,
        Family::Integers => params.max_weight() as u64,
    };
    weight.min(refreshed)
}

/// The numbers of input and output blocks of a program or circuit.
fn blocks_of(params: &Params, source: &KernelSource) -> (usize, usize) {
    let form = form_of(params);
    let blocks = |width: usize| width.div_ceil(form.bits_per_block());
    match source {
        KernelSource::Program(program) => (
            program.inputs.iter().map(|input| blocks(input.ty.width())).sum(),
            program.outputs.iter().map(|output| blocks(program.nodes[output.value.0 as usize].ty.width())).sum(),
        ),
        KernelSource::Circuit(netlist, _) => {
            let all = |ports: &[Port]| ports.iter().map(|port| blocks(port.bits.len())).sum();
            (all(netlist.inputs()), all(netlist.outputs()))
        }
        KernelSource::Convert(_) => (0, 0),
    }
}

/// The identity of a plan. The name of its model is no part of it, because two models may choose one plan.
pub(crate) fn id(params: &Params, source: KeyId, weight: u64, body: &Body) -> Result<KeyId, Error> {
    let all = (VERSION, params.literal(), source, weight, body.name(), KeyId::hash_of(&body.bytes()?));
    Ok(KeyId::hash_of(&cbor(&all)?))
}

/// The hash of what a plan computes. The names of inputs and outputs do not matter.
pub(crate) fn source_id(source: &KernelSource) -> Result<KeyId, Error> {
    let (kind, bytes) = match source {
        KernelSource::Program(program) => {
            let outputs: Vec<_> = program.outputs.iter().map(|output| output.value).collect();
            ("program", cbor(&(program.input_types(), &program.nodes, outputs))?)
        }
        KernelSource::Circuit(netlist, optimize) => ("circuit", cbor(&(netlist, optimize))?),
        KernelSource::Convert(form) => ("conversion", cbor(form)?),
    };
    Ok(KeyId::hash_of(&cbor(&(kind, KeyId::hash_of(&bytes)))?))
}

impl KernelPlan {
    /// `weight` is a [`planned_weight`].
    pub(crate) fn new(
        params: &Params,
        source: &KernelSource,
        model: &str,
        weight: u64,
        body: Body,
    ) -> Result<Self, Error> {
        Self::identified(params.clone(), source_id(source)?, model.to_owned(), weight, body)
    }

    fn identified(params: Params, source: KeyId, model: String, weight: u64, body: Body) -> Result<Self, Error> {
        let id = id(&params, source, weight, &body)?;
        Ok(Self { params, source, model, weight, body, id })
    }

    /// The name of the model by which it was chosen.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Number of bootstraps of each wave, for one element.
    pub(super) fn waves(&self) -> Vec<u64> {
        self.body.schedule(self.weight).waves().iter().map(|&count| count as u64).collect()
    }

    /// The hash of everything that determines the results.
    pub(crate) fn id(&self) -> KeyId {
        self.id
    }

    /// The hash of what it computes.
    pub(super) fn source(&self) -> KeyId {
        self.source
    }

    pub(super) fn params(&self) -> &Params {
        &self.params
    }

    pub(crate) fn body(&self) -> &Body {
        &self.body
    }

    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Checks that the plan computes this source under these parameters, on inputs of at most this noise weight.
    ///
    /// # Errors
    /// [`Error::OtherPlan`] if it does not.
    pub(crate) fn check(&self, params: &Params, source: &KernelSource, weight: u64) -> Result<(), Error> {
        let other = |what: String, help: &str| Err(Error::OtherPlan { what, help: help.into() });
        if self.params != *params {
            let what = format!("for parameters {:?}, and the key has {:?}", self.params.name(), params.name());
            return other(what, "make a plan with this key, or use a key of those parameters");
        }
        if self.source != source_id(source)? {
            let what = "of another program, or of other types or constants".to_owned();
            return other(what, "give the program from which the plan was made, or plan this one");
        }
        let weight = planned_weight(params, weight);
        if weight > self.weight {
            let what = format!("for inputs of noise weight {} at most, and these have {weight}", self.weight);
            return other(what, "plan on these inputs; inputs that repeat a ciphertext have a larger weight");
        }
        let (wanted, has) = (blocks_of(params, source), self.body.blocks());
        if wanted != has {
            let what = format!("with {has:?} blocks of inputs and outputs, where the program has {wanted:?}");
            return other(what, "it is a forgery: plan the program again");
        }
        Ok(())
    }

    pub(super) fn header(&self) -> Result<Header, Error> {
        let header = Header::new(Kind::Plan).scheme(files::SCHEME).params(self.params.literal())?;
        let header = header.meta("plan_version", &VERSION)?.meta("plan", &self.id)?.meta("source", &self.source)?;
        let header = header.meta("model", &self.model)?.meta("weight", &self.weight)?;
        counted(header.meta("body", &self.body.name())?, &self.waves())
    }

    pub(super) fn write<D: Destination + ?Sized>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        Ok(writer.section("body", &self.body.bytes()?)?)
    }

    pub(super) fn read(reader: &Reader) -> Result<Self, Error> {
        let version: u32 = reader.meta("plan_version")?;
        if version != VERSION {
            let what = format!("of version {version}, and this library computes plans of version {VERSION}");
            return Err(Error::OtherPlan { what, help: "plan the program again".into() });
        }
        let params = files::params(reader)?;
        let weight: u64 = reader.meta("weight")?;
        let name: String = reader.meta("body")?;
        let bytes = reader.section("body")?;
        let body = match (params.family(), &*name) {
            (Family::Gates, "gates") => Body::Gates(parse(reader, &bytes)?),
            (Family::Integers, "tables") => Body::Tables(parse(reader, &bytes)?),
            _ => return Err(reader.field("body", "plans of the parameter set have another").into()),
        };
        if let Body::Tables(graph) = &body
            && graph.budget() != tables::budget(weight)
        {
            return Err(reader.field("weight", "the tables are for another weight").into());
        }
        let plan = Self::identified(params, reader.meta("source")?, reader.meta("model")?, weight, body)?;
        if plan.id != reader.meta::<KeyId>("plan")? {
            return Err(reader.field("plan", "it is not the hash of the plan").into());
        }
        check_counts(reader, &plan.waves())?;
        Ok(plan)
    }
}

/// Adds for `inspect` the numbers of bootstraps and waves to a header.
pub(super) fn counted(header: Header, waves: &[u64]) -> Result<Header, Error> {
    Ok(header.meta("bootstraps", &waves.iter().sum::<u64>())?.meta("waves", &(waves.len() as u64))?)
}

/// Checks that a header repeats what the plan says.
pub(super) fn check_counts(reader: &Reader, waves: &[u64]) -> Result<(), Error> {
    for (field, count) in [("bootstraps", waves.iter().sum()), ("waves", waves.len() as u64)] {
        if reader.meta::<u64>(field)? != count {
            return Err(reader.field(field, &format!("the plan has {count}")).into());
        }
    }
    Ok(())
}

//! Plans as values: what a server computes for a program, to the last bootstrap.

use super::kernel_plan::{KernelPlan, VERSION, cbor, check_counts, counted, source_id};
use crate::planning::KernelSource;
use crate::{Error, KeyId, ParamsInfo, Scheme};
use solinas_formats::{Destination, Expect, Header, Kind, Overwrite, Reader, Writer, tfhe as files};
use solinas_values::tfhe::{SCHEME, info};
use std::fmt;
use std::path::Path;

/// The most kernels of a plan, so that a forged file takes no memory.
const MOST: u64 = 1 << 16;

/// A plan (TFHE): all that determines the bootstraps of a program or a circuit under a parameter set. A program on arrays may have several kernels; its plan
/// has that of each.
///
/// The bytes of the results depend on the plan, the server key and the inputs alone. They are the same on every machine, back end and
/// number of threads. Another version of this library may choose another plan for a program, and it computes the same bytes by this one.
/// There is one exception: where a run finds operands with equal noise that the plan takes to be independent, the step is planned again, by the model of the
/// plan. It gives the same bytes everywhere in one version of this library.
#[derive(Clone, PartialEq)]
pub struct Plan {
    /// One or more, of one parameter set, in the order of the steps.
    kernels: Vec<KernelPlan>,
    id: KeyId,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("id", &self.id).field("params", &self.params().name).finish_non_exhaustive()
    }
}

/// The identity of a computation by plans of its steps: that of the only plan, or the hash of all.
pub(crate) fn joint_id(ids: &[KeyId]) -> Result<KeyId, Error> {
    match ids {
        [only] => Ok(*only),
        ids => Ok(KeyId::hash_of(&cbor(&("plans", ids))?)),
    }
}

impl Plan {
    /// Equal plans of kernels are one.
    pub(crate) fn new(all: impl IntoIterator<Item = KernelPlan>) -> Result<Self, Error> {
        let mut kernels: Vec<KernelPlan> = Vec::new();
        for kernel in all {
            if kernels.iter().all(|known| known.id() != kernel.id()) {
                kernels.push(kernel);
            }
        }
        if kernels.is_empty() {
            return Err(Error::Internal("a plan has no kernel".into()));
        }
        let id = joint_id(&kernels.iter().map(KernelPlan::id).collect::<Vec<_>>())?;
        Ok(Self { kernels, id })
    }

    /// The plans of the kernels that compute a source, that for the least noise first. If there is none, any plan, whose check gives the reason.
    pub(crate) fn of_source(&self, source: &KernelSource) -> Result<Vec<&KernelPlan>, Error> {
        let id = source_id(source)?;
        let mut found: Vec<&KernelPlan> = self.kernels.iter().filter(|kernel| kernel.source() == id).collect();
        found.sort_by_key(|kernel| kernel.weight());
        if found.is_empty() {
            found.extend(self.kernels.first());
        }
        Ok(found)
    }

    /// The hash of everything that determines the results. Equal plans have the same one.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        SCHEME
    }

    /// The parameter set for which it was made.
    pub fn params(&self) -> ParamsInfo {
        info(self.kernels[0].params())
    }

    /// The name of the model by which it was chosen.
    pub fn model(&self) -> &str {
        self.kernels[0].model()
    }

    /// Number of bootstraps for one element of each kernel.
    pub fn bootstraps(&self) -> u64 {
        self.waves().iter().sum()
    }

    /// Number of bootstraps of each wave, for one element of each kernel. The bootstraps of a wave are independent.
    pub fn waves(&self) -> Vec<u64> {
        self.kernels.iter().flat_map(KernelPlan::waves).collect()
    }

    fn header(&self) -> Result<Header, Error> {
        let [first, _, ..] = &self.kernels[..] else { return self.kernels[0].header() };
        let header = Header::new(Kind::Plan).scheme(files::SCHEME).params(first.params().literal())?;
        let header = header.meta("plan_version", &VERSION)?.meta("plan", &self.id)?.meta("model", &first.model())?;
        counted(header.meta("kernels", &(self.kernels.len() as u64))?, &self.waves())
    }

    fn write<D: Destination + ?Sized>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        if let [only] = &self.kernels[..] {
            return only.write(writer);
        }
        for (number, kernel) in self.kernels.iter().enumerate() {
            let mut bytes = Writer::in_memory(kernel.header()?);
            kernel.write(&mut bytes)?;
            writer.section(&section(number as u64), &bytes.into_bytes()?)?;
        }
        Ok(())
    }

    /// Writes the plan to a file. It replaces an existing file, but never a secret file.
    ///
    /// # Errors
    /// From the file. A failed write leaves an existing file as it was.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut writer = Writer::create(path, self.header()?, Overwrite::KeepSecrets)?;
        self.write(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// The file is no plan, damaged, or newer than this library.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let reader = Reader::open(path, Expect::kind(Kind::Plan))?;
        Self::read(&reader).map_err(|error| error.in_file(path))
    }

    /// The bytes of the plan's file.
    ///
    /// # Errors
    /// From the writer.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::in_memory(self.header()?);
        self.write(&mut writer)?;
        Ok(writer.into_bytes()?.to_vec())
    }

    /// Reads a plan from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("plan", bytes, Expect::kind(Kind::Plan))?)
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        if !reader.header().meta.contains_key("kernels") {
            return Self::new([KernelPlan::read(reader)?]);
        }
        let count: u64 = reader.meta("kernels")?;
        if !(2..=MOST).contains(&count) {
            return Err(reader.field("kernels", "a plan has no such number of kernels").into());
        }
        let kernel = |number: u64| {
            let bytes = reader.section(&section(number))?;
            KernelPlan::read(&Reader::from_bytes("plan", &*bytes, Expect::kind(Kind::Plan))?)
        };
        let kernels = (0..count).map(kernel).collect::<Result<Vec<_>, Error>>()?;
        if kernels.iter().any(|kernel| kernel.params() != kernels[0].params()) {
            return Err(reader.field("kernels", "they are for several parameter sets").into());
        }
        let plan = Self::new(kernels)?;
        if plan.kernels.len() as u64 != count {
            return Err(reader.field("kernels", "a kernel is there twice").into());
        }
        if plan.id != reader.meta::<KeyId>("plan")? {
            return Err(reader.field("plan", "it is not the hash of the plan").into());
        }
        if plan.params().name != files::params(reader)?.name() {
            return Err(reader.field("params", "the kernels are for another parameter set").into());
        }
        check_counts(reader, &plan.waves())?;
        Ok(plan)
    }
}

fn section(kernel: u64) -> String {
    format!("kernel{kernel}")
}

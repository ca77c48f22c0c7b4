//! Paused runs, as values and files.

use super::run::Cursor;
use crate::{Ciphertext, Error, KeyId};
use solinas_formats::{Destination, Expect, Header, Kind, Overwrite, Reader, Writer, pack, tfhe as files};
use solinas_schemes::tfhe::{LweCiphertext, Params};
use std::fmt;
use std::path::Path;

/// A run that stopped between two waves (TFHE): the results so far, and the values that later waves and steps read. It holds ciphertexts only. The same work
/// goes on from it, on any machine, and gives the bytes of a run without a pause.
#[derive(Clone, PartialEq)]
pub struct RunState {
    params: Params,
    id: RunId,
    insecure: bool,
    cursor: Cursor,
    /// None if the computation has one step.
    steps: Option<StepsState>,
}

/// The state of the steps of a computation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepsState {
    /// The step that runs, and its lanes, from the first one to the end. None between two batches.
    pub(crate) batch: Option<[u64; 3]>,
    /// For each step, the number of its first lanes that are done.
    pub(crate) done: Vec<u64>,
    /// For each slot with values: its number, the place of the first value, and the number of values.
    pub(crate) live: Vec<(u32, u64, u64)>,
    /// The blocks of these values.
    pub(crate) blocks: Vec<LweCiphertext>,
}

impl fmt::Debug for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, cursor, .. } = self;
        let mut debug = f.debug_struct("RunState");
        debug.field("plan", &id.plan).field("done", &cursor.outputs.len()).field("wave", &cursor.wave);
        debug.finish_non_exhaustive()
    }
}

/// The identity of a run: its key, its plan, its inputs, and whether its results hide the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunId {
    pub(crate) key_id: KeyId,
    pub(crate) plan: KeyId,
    pub(crate) inputs: KeyId,
    pub(crate) is_private: bool,
}

/// The hash of the inputs of a run.
pub(crate) fn inputs_id(inputs: &[Ciphertext]) -> Result<KeyId, Error> {
    let hashes = inputs.iter().map(|input| Ok(input.hash()?.0)).collect::<Result<Vec<_>, Error>>()?;
    Ok(KeyId::hash_of(&hashes.concat()))
}

fn words(blocks: &[LweCiphertext]) -> impl Iterator<Item = Result<Vec<u8>, solinas_formats::Error>> {
    blocks.iter().map(|block| Ok(pack::u32_to_le(block.words())))
}

impl RunState {
    pub(crate) fn new(params: &Params, id: RunId, insecure: bool, cursor: Cursor, steps: Option<StepsState>) -> Self {
        Self { params: params.clone(), id, insecure, cursor, steps }
    }

    /// The position from which the run continues.
    ///
    /// # Errors
    /// [`Error::OtherRun`] if the state belongs to another key, plan or inputs, or its run does not hide the program as this one does.
    pub(crate) fn cursor(&self, id: RunId) -> Result<&Cursor, Error> {
        let other = match id {
            RunId { key_id, .. } if key_id != self.id.key_id => "of another key",
            RunId { plan, .. } if plan != self.id.plan => "of another program or plan",
            RunId { inputs, .. } if inputs != self.id.inputs => "of other inputs",
            RunId { is_private, .. } if is_private != self.id.is_private => {
                if is_private {
                    "of a run that shows the program"
                } else {
                    "of a run that hides the program"
                }
            }
            _ => return Ok(&self.cursor),
        };
        Err(Error::OtherRun { what: other.into() })
    }

    /// The state of the steps. None if the computation has one step.
    pub(crate) const fn steps(&self) -> Option<&StepsState> {
        self.steps.as_ref()
    }

    /// The identity of the plan ([`Plan::id`](crate::Plan::id)).
    pub fn plan(&self) -> KeyId {
        self.id.plan
    }

    /// The identity of the key.
    pub fn key_id(&self) -> KeyId {
        self.id.key_id
    }

    /// Number of elements whose results are complete, in the step that runs.
    pub fn done(&self) -> usize {
        self.cursor.outputs.len()
    }

    /// The next wave of the elements that run. It is 0 if no element runs.
    pub fn wave(&self) -> usize {
        self.cursor.wave as usize
    }

    fn header(&self) -> Result<Header, Error> {
        let Self { id, cursor, .. } = self;
        let header = files::header(Kind::RunState, &self.params, id.key_id, self.insecure)?;
        let header = header.meta("plan", &id.plan)?.meta("inputs", &id.inputs)?.meta("private", &id.is_private)?;
        let outputs = cursor.outputs.first().map_or(0, Vec::len);
        let header = header.meta("done", &(cursor.outputs.len() as u64))?.meta("outputs", &(outputs as u64))?;
        let header = header.meta("lanes", &(cursor.lanes as u64))?.meta("wave", &cursor.wave)?;
        let Some(steps) = &self.steps else { return Ok(header) };
        Ok(header.meta("steps", &steps.done)?.meta("slots", &steps.live)?.meta("batch", &steps.batch)?)
    }

    fn write<D: Destination + ?Sized>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        writer.section_of_parts("results", self.cursor.outputs.iter().flat_map(|outputs| words(outputs)))?;
        writer.section_of_parts("live", words(&self.cursor.live))?;
        if let Some(steps) = &self.steps {
            writer.section_of_parts("elements", words(&steps.blocks))?;
        }
        Ok(())
    }

    /// Writes the state to a file. It replaces an existing file, but never a secret file.
    ///
    /// # Errors
    /// From the file. A failed write leaves an existing file as it was.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut writer = Writer::create(path, self.header()?, Overwrite::KeepSecrets)?;
        self.write(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Reads a state.
    ///
    /// # Errors
    /// The file is no paused run, damaged, or newer than this library.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let reader = Reader::open(path, Expect::kind(Kind::RunState))?;
        Self::read(&reader).map_err(|error| error.in_file(path))
    }

    /// The bytes of the file of the state.
    ///
    /// # Errors
    /// From the writer.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::in_memory(self.header()?);
        self.write(&mut writer)?;
        Ok(writer.into_bytes()?.to_vec())
    }

    /// Reads a state from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("paused run", bytes, Expect::kind(Kind::RunState))?)
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        let params = files::params(reader)?;
        let count = |field: &str| Ok::<_, Error>(reader.meta::<u64>(field)? as usize);
        let (done, outputs, lanes) = (count("done")?, count("outputs")?, count("lanes")?);
        let size = params.big_dimension() + 1;
        let blocks = |section: &str, wanted: Option<usize>| {
            let bytes = reader.section_len(section)?;
            let count = bytes as usize / (4 * size);
            if wanted.is_some_and(|wanted| wanted != count) {
                return Err(Error::from(reader.section_error(section, "it has another number of ciphertexts")));
            }
            let words = reader.section_u32(section, count * size)?;
            Ok(words.chunks_exact(size).map(|words| LweCiphertext::from_words(words.to_vec())).collect::<Vec<_>>())
        };
        let total = done.checked_mul(outputs).ok_or_else(|| reader.field("done", "it is too large"))?;
        let results = blocks("results", Some(total))?;
        let outputs_of = |done: usize| results[done * outputs..][..outputs].to_vec();
        // Instances without outputs would cost memory without bytes in the file.
        if outputs == 0 && done > 0 {
            return Err(reader.field("outputs", "the results are missing").into());
        }
        let live = blocks("live", None)?;
        let cursor = Cursor { outputs: (0..done).map(outputs_of).collect(), lanes, wave: reader.meta("wave")?, live };
        let steps = match reader.header().meta.contains_key("steps") {
            false => None,
            true => {
                let blocks = blocks("elements", None)?;
                let (done, live) = (reader.meta("steps")?, reader.meta("slots")?);
                Some(StepsState { batch: reader.meta("batch")?, done, live, blocks })
            }
        };
        let (plan, inputs, is_private) = (reader.meta("plan")?, reader.meta("inputs")?, reader.meta("private")?);
        let id = RunId { key_id: reader.key_id()?, plan, inputs, is_private };
        Ok(Self::new(&params, id, reader.header().insecure_seed, cursor, steps))
    }
}

//! Paused runs, as values and files.

use super::run::Cursor;
use crate::{Ciphertext, Error, KeyId};
use solinas_formats::{Destination, Expect, Header, Kind, Overwrite, Reader, Writer, pack, tfhe as files};
use solinas_schemes::tfhe::{LweCiphertext, Params};
use std::fmt;
use std::path::Path;

/// A run that stopped between two waves (TFHE): the results so far, and the values that later waves read. It holds ciphertexts only. The same work goes on
/// from it, on any machine, and gives the bytes of a run without a pause.
#[derive(Clone, PartialEq)]
pub struct RunState {
    params: Params,
    key_id: KeyId,
    insecure: bool,
    /// The identity of the plan.
    plan: KeyId,
    /// The hash of the inputs.
    inputs: KeyId,
    /// Outputs of one instance.
    outputs: usize,
    cursor: Cursor,
}

impl fmt::Debug for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, cursor, .. } = self;
        let mut debug = f.debug_struct("RunState");
        debug.field("plan", plan).field("done", &cursor.outputs.len()).field("wave", &cursor.wave);
        debug.finish_non_exhaustive()
    }
}

/// The identity of a run: its key, its plan and its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunId {
    pub(crate) key_id: KeyId,
    pub(crate) plan: KeyId,
    pub(crate) inputs: KeyId,
}

/// The hash of the inputs of a run.
pub(crate) fn inputs_id(inputs: &[Ciphertext]) -> Result<KeyId, Error> {
    // The version of the library that writes the bytes does not matter.
    let hash = |input: &Ciphertext| {
        let mut header = input.header()?;
        header.library.clear();
        let mut writer = Writer::in_memory(header);
        input.elements.write(&mut writer)?;
        Ok(KeyId::hash_of(&writer.into_bytes()?).0)
    };
    Ok(KeyId::hash_of(&inputs.iter().map(hash).collect::<Result<Vec<_>, Error>>()?.concat()))
}

fn words(blocks: &[LweCiphertext]) -> impl Iterator<Item = Result<Vec<u8>, solinas_formats::Error>> {
    blocks.iter().map(|block| Ok(pack::u32_to_le(block.words())))
}

impl RunState {
    pub(crate) fn new(params: &Params, id: RunId, insecure: bool, outputs: usize, cursor: Cursor) -> Self {
        let RunId { key_id, plan, inputs } = id;
        Self { params: params.clone(), key_id, insecure, plan, inputs, outputs, cursor }
    }

    /// The position from which the run continues.
    ///
    /// # Errors
    /// [`Error::OtherRun`] if the state belongs to another key, plan or inputs.
    pub(crate) fn cursor(&self, id: RunId) -> Result<&Cursor, Error> {
        let other = match id {
            RunId { key_id, .. } if key_id != self.key_id => "of another key",
            RunId { plan, .. } if plan != self.plan => "of another program or plan",
            RunId { inputs, .. } if inputs != self.inputs => "of other inputs",
            _ => return Ok(&self.cursor),
        };
        Err(Error::OtherRun { what: other.into() })
    }

    /// The identity of the plan ([`Plan::id`](crate::Plan::id)).
    pub fn plan(&self) -> KeyId {
        self.plan
    }

    /// The identity of the key.
    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// Number of elements whose results are complete.
    pub fn done(&self) -> usize {
        self.cursor.outputs.len()
    }

    /// The next wave of the elements that run. It is 0 if no element runs.
    pub fn wave(&self) -> usize {
        self.cursor.wave as usize
    }

    fn header(&self) -> Result<Header, Error> {
        let header = files::header(Kind::RunState, &self.params, self.key_id, self.insecure)?;
        let header = header.meta("plan", &self.plan)?.meta("inputs", &self.inputs)?;
        let header = header.meta("done", &(self.cursor.outputs.len() as u64))?;
        let header = header.meta("outputs", &(self.outputs as u64))?;
        Ok(header.meta("lanes", &(self.cursor.lanes as u64))?.meta("wave", &self.cursor.wave)?)
    }

    fn write<D: Destination + ?Sized>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        writer.section_of_parts("results", self.cursor.outputs.iter().flat_map(|outputs| words(outputs)))?;
        Ok(writer.section_of_parts("live", words(&self.cursor.live))?)
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
        let id = RunId { key_id: reader.key_id()?, plan: reader.meta("plan")?, inputs: reader.meta("inputs")? };
        Ok(Self::new(&params, id, reader.header().insecure_seed, outputs, cursor))
    }
}

//! Conversion of files of earlier versions to the present form.

use crate::process::on_pool;
use crate::{Ciphertext, ClientKey, Error, PublicKey, ServerKey};
use solinas_formats::{Destination, Expect, Header, Kind, Overwrite, Reader, VERSION, Writer};
use std::path::Path;

/// The kinds of files that are converted.
const KINDS: [Kind; 4] = [Kind::ClientKey, Kind::ServerKey, Kind::PublicKey, Kind::Ciphertext];

/// The result of [`convert`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conversion {
    /// Kind of the file.
    pub kind: Kind,
    /// Name and version of the program that had written the file.
    pub writer: String,
    /// The section that the client key added.
    pub added: Option<&'static str>,
    /// The section that the file lacks, which a client key would add.
    pub lacks: Option<&'static str>,
    /// Whether the file had the present form.
    pub present: bool,
    /// Whether a file was written. Without an output, a file in the present form stays as it is.
    pub written: bool,
}

/// Writes a key or ciphertext in the form of this version: to `output`, or in the place of the file. The file appears, or replaces an
/// existing one, when it is complete. A file that stays as it is is verified whole. The client key of the pair adds the sections that earlier versions did not write into a server key.
///
/// # Errors
/// [`Error::Format`] if the file is of another kind, damaged, newer than this library, or of another pair than the client key, or if the
/// output exists or cannot be written.
pub fn convert(file: &Path, client: Option<&ClientKey>, output: Option<&Path>) -> Result<Conversion, Error> {
    let reader = Reader::open(file, Expect::any_of(&KINDS))?;
    if let Some(client) = client {
        reader.expect_key(client.key_id(), "client.key")?;
    }
    on_pool(|| Source { reader: &reader, file, output }.convert(client)).map_err(|error| error.in_file(file))
}

/// A file to convert.
struct Source<'a> {
    reader: &'a Reader,
    file: &'a Path,
    output: Option<&'a Path>,
}

impl Source<'_> {
    fn convert(&self, client: Option<&ClientKey>) -> Result<Conversion, Error> {
        let (reader, kind) = (self.reader, self.reader.kind());
        match kind {
            Kind::ServerKey => self.server(client),
            Kind::ClientKey => {
                let key = ClientKey::read(reader)?.0;
                self.write(key.header()?, |writer| key.write(writer), None, None)
            }
            Kind::PublicKey => {
                let key = PublicKey::read(reader)?.0;
                self.write(key.header()?, |writer| key.write(writer), None, None)
            }
            _ => {
                let ciphertext = Ciphertext::read(reader)?;
                self.write(ciphertext.header()?, |writer| ciphertext.elements.write(writer), None, None)
            }
        }
    }

    fn server(&self, client: Option<&ClientKey>) -> Result<Conversion, Error> {
        let (old, reader) = (ServerKey::read(self.reader)?.0, self.reader);
        let (missing, mut key) = (old.lacks(), old);
        if let (Some(_), Some(client)) = (missing, client) {
            key = client.0.complete(reader)?;
        }
        let lacks = key.lacks();
        self.write(key.header()?, |writer| key.write(writer), missing.filter(|_| lacks.is_none()), lacks)
    }

    fn write(
        &self,
        header: Header,
        content: impl Fn(&mut Writer<dyn Destination>) -> Result<(), Error>,
        added: Option<&'static str>,
        lacks: Option<&'static str>,
    ) -> Result<Conversion, Error> {
        let (kind, old) = (self.reader.kind(), self.reader.header());
        let present = self.reader.version() == VERSION && *old == header && added.is_none();
        let written = self.output.is_some() || !present;
        if written {
            let overwrite = match self.output {
                // A ciphertext replaces a file, as those of other commands do.
                Some(_) if kind == Kind::Ciphertext => Overwrite::KeepSecrets,
                Some(_) => Overwrite::Never,
                None if kind.is_secret() => Overwrite::Always,
                None => Overwrite::KeepSecrets,
            };
            let mut writer = Writer::create(self.output.unwrap_or(self.file), header, overwrite)?;
            content(&mut writer)?;
            writer.finish()?;
        } else {
            // Some sections are read only when they are needed.
            self.reader.verify_all()?;
        }
        Ok(Conversion { kind, writer: old.library.clone(), added, lacks, present, written })
    }
}

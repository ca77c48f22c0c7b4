//! A design: a top module, its sources and its parameters.

use crate::Error;

/// The sources of all designs, by their path below `rtl/`.
const SOURCES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// A top module with its sources and parameters. [`Model::build`](crate::Model::build) compiles it.
#[derive(Debug, Clone)]
pub struct Design {
    top: String,
    sources: Vec<(String, String)>,
    parameters: Vec<(String, u64)>,
    trace: bool,
    light: bool,
}

impl Design {
    /// A design with this top module and no sources yet.
    pub fn new(top: &str) -> Self {
        Self { top: top.into(), sources: Vec::new(), parameters: Vec::new(), trace: false, light: false }
    }

    /// Adds the sources that a list of `rtl/` names, such as `common/files.f`. Each of its lines is the path of a source,
    /// or `-f` and the path of another list. A source that is named twice is taken once.
    ///
    /// # Errors
    /// [`Error::NoSource`].
    pub fn files(mut self, list: &str) -> Result<Self, Error> {
        self.add(list)?;
        Ok(self)
    }

    /// Adds a source by its text, for tests.
    #[must_use]
    pub fn source(mut self, name: &str, text: &str) -> Self {
        self.sources.push((name.into(), text.into()));
        self
    }

    /// Sets a parameter of the top module.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: u64) -> Self {
        self.parameters.push((name.into(), value));
        self
    }

    /// Replaces the first occurrence of a text in a source, to test that a bench finds a fault.
    ///
    /// # Errors
    /// [`Error::NoSource`] if no source of this name has the text.
    pub fn replaced(mut self, name: &str, from: &str, to: &str) -> Result<Self, Error> {
        let source = self.sources.iter_mut().find(|(file, text)| file == name && text.contains(from));
        let (_, text) = source.ok_or_else(|| Error::NoSource { name: format!("{name} with the text {from}") })?;
        *text = text.replacen(from, to, 1);
        Ok(self)
    }

    /// Builds a model that can write a waveform. It is slower.
    #[must_use]
    pub fn traced(mut self) -> Self {
        self.trace = true;
        self
    }

    /// Compiles the model in less time, if that is for small simulations. They then take up to 1.4 times as long.
    #[must_use]
    pub fn light(mut self, light: bool) -> Self {
        self.light = light;
        self
    }

    /// The name of the top module.
    pub fn top(&self) -> &str {
        &self.top
    }

    pub(crate) fn sources(&self) -> &[(String, String)] {
        &self.sources
    }

    pub(crate) fn parameters(&self) -> &[(String, u64)] {
        &self.parameters
    }

    pub(crate) fn is_traced(&self) -> bool {
        self.trace
    }

    pub(crate) fn is_light(&self) -> bool {
        self.light
    }

    fn add(&mut self, list: &str) -> Result<(), Error> {
        for line in text(list)?.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(other) = line.strip_prefix("-f ") {
                self.add(other.trim())?;
            } else if self.sources.iter().all(|(name, _)| name != line) {
                self.sources.push((line.into(), text(line)?.into()));
            }
        }
        Ok(())
    }
}

/// The text of a file of `rtl/`.
pub(crate) fn text(name: &str) -> Result<&'static str, Error> {
    let found = SOURCES.iter().find(|(file, _)| *file == name);
    found.map(|(_, text)| *text).ok_or_else(|| Error::NoSource { name: name.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_include_lists_and_name_each_source_once() {
        for (list, _) in SOURCES.iter().filter(|(name, _)| name.ends_with(".f")) {
            let design = Design::new("top").files(list).unwrap();
            let twice = design.clone().files(list).unwrap();
            assert!(!design.sources().is_empty(), "{list}");
            assert_eq!(design.sources(), twice.sources(), "{list}");
        }
        assert!(Design::new("top").files("no.f").unwrap_err().to_string().contains("no.f"));
    }

    #[test]
    fn every_source_belongs_to_a_list() {
        let lists = SOURCES.iter().filter(|(name, _)| name.ends_with(".f"));
        let listed: Vec<String> = lists
            .flat_map(|(list, _)| Design::new("top").files(list).unwrap().sources().to_vec())
            .map(|s| s.0)
            .collect();
        for (name, _) in SOURCES.iter().filter(|(name, _)| name.ends_with(".sv")) {
            assert!(listed.iter().any(|listed| listed == name), "{name} is in no files.f");
        }
    }
}

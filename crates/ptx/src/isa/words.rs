//! The modifiers of an opcode, taken one after another.

use crate::error::ParseError;
use crate::syntax::{Statement, Type};

/// Modifiers that no decoder took yet.
pub(super) struct Words<'a> {
    statement: &'a Statement,
    left: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn new(statement: &'a Statement) -> Self {
        Self { statement, left: statement.opcode[1..].iter().map(String::as_str).collect() }
    }

    pub(super) fn opcode(&self) -> &'a str {
        &self.statement.opcode[0]
    }

    /// Whether the modifier is there. It is taken.
    pub(super) fn take(&mut self, word: &str) -> bool {
        self.one(&[word]).is_some()
    }

    /// The first modifier that is in the list. It is taken.
    pub(super) fn one(&mut self, words: &[&str]) -> Option<&'a str> {
        let at = self.left.iter().position(|word| words.contains(word))?;
        Some(self.left.remove(at))
    }

    /// As [`Words::one`]; a statement without one of them is an error.
    pub(super) fn need(&mut self, words: &[&str]) -> Result<&'a str, ParseError> {
        self.one(words)
            .map_or_else(|| self.statement.error(format!("one of {words:?} must follow {}", self.opcode())), Ok)
    }

    /// The next type in the order of the text. It is taken.
    pub(super) fn ty(&mut self) -> Result<Type, ParseError> {
        let found = self.left.iter().enumerate().find_map(|(at, word)| Some((at, Type::named(word)?)));
        let Some((at, ty)) = found else { return self.statement.error(format!("{} has no type", self.opcode())) };
        self.left.remove(at);
        Ok(ty)
    }

    /// No modifier may be left.
    pub(super) fn end(self) -> Result<(), ParseError> {
        match self.left.first() {
            None => Ok(()),
            Some(word) => self.statement.error(format!("{} does not know the modifier .{word}", self.opcode())),
        }
    }
}

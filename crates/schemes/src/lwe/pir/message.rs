//! Queries and answers.

use super::DatabaseId;

/// Bytes of the number of a query.
pub(super) const NUMBER: usize = 16;

/// A question for a record: a number for each column of the database. It hides the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(super) id: DatabaseId,
    /// Random; an answer has that of its query.
    pub(super) number: [u8; NUMBER],
    pub(super) words: Vec<u32>,
}

/// The answer to a query: a number for each row of the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub(super) id: DatabaseId,
    pub(super) number: [u8; NUMBER],
    pub(super) words: Vec<u32>,
}

impl Query {
    /// The database that it asks.
    pub fn database(&self) -> DatabaseId {
        self.id
    }

    /// A random number that identifies the query and its answer.
    pub fn number(&self) -> [u8; NUMBER] {
        self.number
    }

    /// A number modulo `2^32` for each column.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

impl Answer {
    /// The database that gave it.
    pub fn database(&self) -> DatabaseId {
        self.id
    }

    /// The number of the query that it answers.
    pub fn number(&self) -> [u8; NUMBER] {
        self.number
    }

    /// A number modulo `2^32` for each row.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

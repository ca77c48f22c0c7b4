//! What goes wrong.

/// The reason why there is no answer. It is text for people.
#[derive(Debug)]
pub struct Fault(pub String);

impl<E: std::error::Error> From<E> for Fault {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

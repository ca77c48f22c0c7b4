//! The exponentiator for RSA of `rtl/rsa` (`wang2014` chapter 7).

mod exponentiator;
#[cfg(feature = "rsa")]
mod private;
mod schedule;

pub use exponentiator::{Exponentiator, Powers, Size, Task, design};
#[cfg(feature = "rsa")]
pub use private::PrivateOperations;
pub use schedule::{Entry, Pass, Shape, Unit};

//! The exponentiator for RSA of `rtl/rsa` (`wang2014` chapter 7).

mod exponentiator;
mod schedule;

pub use exponentiator::{Exponentiator, Powers, Size, Task, design};
pub use schedule::{Entry, Pass, Shape, Unit};

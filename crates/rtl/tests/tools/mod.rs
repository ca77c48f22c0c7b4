//! Tests that need the tools are left out without them.

#[allow(dead_code, reason = "some tests state no figures")]
pub(crate) mod figures;

use solinas_rtl::Error;

/// The result. `None` if the tools are missing.
pub(crate) fn or_skip<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ Error::Tool { .. }) => {
            solinas_testing::left_out("rtl", error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

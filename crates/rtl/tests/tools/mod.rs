//! Tests that need the tools are skipped without them, unless `SOLINAS_RTL=required`.

#[allow(dead_code, reason = "some tests state no figures")]
pub(crate) mod figures;

use solinas_rtl::Error;

/// The result. `None` if the tools are missing.
pub(crate) fn or_skip<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ Error::Tool { .. }) if std::env::var("SOLINAS_RTL").as_deref() != Ok("required") => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

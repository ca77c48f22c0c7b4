//! The two parts of an error's message.

use std::error::Error;

/// An error with a message `what; help`. This is the only place that knows how the two parts are written.
pub trait Help: Error {
    /// The help, if the error keeps it in a field.
    fn kept_help(&self) -> Option<&str> {
        None
    }

    /// How to correct it, if the message says so.
    fn help(&self) -> Option<String> {
        self.kept_help().map(str::to_owned).or_else(|| written(&self.to_string()).map(str::to_owned))
    }

    /// What went wrong, and where: the message without the help.
    fn what(&self) -> String {
        let mut message = self.to_string();
        let help = self.help();
        let what = help.and_then(|help| message.strip_suffix(&help)?.strip_suffix("; ").map(str::len));
        message.truncate(what.unwrap_or(message.len()));
        message
    }
}

/// What follows the last semicolon outside brackets. Names before it may have semicolons and brackets of their own.
fn written(message: &str) -> Option<&str> {
    let tails = message.rmatch_indices("; ").map(|(at, separator)| &message[at + separator.len()..]);
    tails.into_iter().find(|tail| tail.matches('(').count() == tail.matches(')').count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    #[derive(Debug, thiserror::Error)]
    enum Sample {
        #[error("{0}")]
        Written(String),
        #[error("{what}; {help}")]
        Kept { what: String, help: String },
    }

    impl Help for Sample {
        fn kept_help(&self) -> Option<&str> {
            match self {
                Self::Written(_) => None,
                Self::Kept { help, .. } => Some(help),
            }
        }
    }

    fn both(message: &str) -> (String, Option<String>) {
        let sample = Sample::Written(message.into());
        (sample.what(), sample.help())
    }

    #[test]
    fn names_do_not_hide_the_help() {
        for (what, help) in [
            ("a (b; c)", "d"),
            ("cannot read a(b.ct: not found", "check the name"),
            ("cannot read a; b).ct: not found", "check the name (or the folder; both)"),
        ] {
            assert_eq!(both(&format!("{what}; {help}")), (what.into(), Some(help.into())));
        }
        assert_eq!(both("division by zero"), ("division by zero".into(), None));
        let kept = Sample::Kept { what: "a".into(), help: "b; c".into() };
        assert_eq!((kept.what(), kept.help()), ("a".into(), Some("b; c".into())));
    }

    /// The texts of `#[error("..")]` in a folder.
    fn texts(folder: &Path, all: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                for text in source.split("#[error(").skip(1) {
                    let Some(text) = text.trim_start().strip_prefix('"') else { continue };
                    let mut escaped = false;
                    let end = text.find(|c| {
                        let ends = c == '"' && !escaped;
                        escaped = c == '\\' && !escaped;
                        ends
                    });
                    all.push(text[..end.unwrap()].to_owned());
                }
            }
        }
    }

    /// A text with that value in each of its places.
    fn filled(text: &str, value: &str) -> String {
        let mut pieces = text.split('{');
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |all, piece| all + value + piece.split_once('}').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn the_help_of_every_error_is_found_behind_any_names() {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
            let sources = entry.unwrap().path().join("src");
            if sources.is_dir() {
                texts(&sources, &mut all);
            }
        }
        let mut count = 0;
        for text in &all {
            if let Some(help) = written(text) {
                let what = &text[..text.len() - help.len() - "; ".len()];
                let (what, help) = (filled(what, "a; (b"), filled(help, "c"));
                assert_eq!(both(&format!("{what}; {help}")), (what, Some(help)), "{text}");
                count += 1;
            }
        }
        assert!(count > 150, "{count} of {} errors have a help", all.len());
    }
}

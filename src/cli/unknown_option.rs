//! What stands in the place of an option that a verb does not have.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// An option that people expect of a verb.
struct Expected {
    verb: &'static str,
    option: &'static str,
    /// Where it is.
    elsewhere: &'static str,
}

const fn expected(verb: &'static str, option: &'static str, elsewhere: &'static str) -> Expected {
    Expected { verb, option, elsewhere }
}

const EXPECTED: &[Expected] = &[
    expected(
        "predict",
        "--set",
        "a release has the settings of its spec, which its certificate is about: change them there",
    ),
    expected(
        "predict",
        "--epsilon",
        "a release has the epsilon of its spec; of several, `--cell epsilon=1` chooses one",
    ),
    expected(
        "new",
        "--out",
        "the name of the spec comes first: `dpgp new NAME --data FILE` writes NAME.toml",
    ),
    expected("new", "--epsilon", "`--ask` asks for it, and the spec holds it"),
    expected("run", "--cell", "`run` computes all cells; `--set epsilon=1` keeps those of one epsilon"),
    expected("run", "--epsilon", "`--set epsilon=1` keeps the cells of one epsilon, or sets it"),
    expected("run", "--dry-run", "`dpgp plan` says what would be computed"),
];

/// Whether a word is one of the arguments, which need be no text.
fn is_said(word: &str) -> bool {
    std::env::args_os().skip(1).any(|argument| argument == word)
}

/// The error of the parser with what was meant, and without its tip to pass an option as a value, which nobody means.
pub(super) fn explained(mut error: Error) -> Error {
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) => unknown.clone(),
        _ => return error,
    };
    error.remove(ContextKind::Suggested);
    if let Some(found) = EXPECTED.iter().find(|one| one.option == unknown && is_said(one.verb)) {
        error.remove(ContextKind::SuggestedArg);
        let elsewhere = vec![found.elsewhere.to_owned().into()];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(elsewhere));
    }
    error
}

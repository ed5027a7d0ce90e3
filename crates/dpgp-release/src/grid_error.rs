//! What can be wrong with the points of a command line.

use thiserror::Error;

use dpgp_data::suggest::closest;
use dpgp_spec::setting::rules::MOST_POINTS;

/// Why an option names no points.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A part that cannot be read.
    #[error("{part:?}: {why}")]
    Part {
        /// The part.
        part: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An input that is named twice.
    #[error("the input {0:?} is named twice")]
    Twice(String),
    /// A name that no input has.
    #[error("the spec has no input {name:?}{}; it has {}", meant(name, known), known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The inputs of the spec.
        known: Vec<String>,
    },
    /// Inputs that are not named.
    #[error("every input needs a value or a range; missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// A grid that is too large.
    #[error("a grid of {0} points; at most {MOST_POINTS} can be predicted at")]
    TooMany(usize),
    /// A word that is no code of an input.
    #[error("{part:?}: the input holds words, one of {}", words.join(", "))]
    NoWord {
        /// The part.
        part: String,
        /// The words that there are.
        words: Vec<String>,
    },
    /// A spec without public places.
    #[error(
        "the spec names no places to predict at (task.surface.map, task.prediction.grid or the domain of its mechanism): name \
         them with --grid INPUT=FROM..TO:POINTS,... or in a file, with --at"
    )]
    NoPlaces,
}

fn meant(name: &str, known: &[String]) -> String {
    let near = closest(name, known.iter().map(String::as_str));
    near.map(|near| format!(" (did you mean {near:?}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(name: &str) -> GridError {
        GridError::Unknown { name: name.to_owned(), known: vec!["age".to_owned(), "dose_mg".to_owned()] }
    }

    #[test]
    fn the_nearest_input_is_named() {
        assert_eq!(
            unknown("dose").to_string(),
            "the spec has no input \"dose\" (did you mean \"dose_mg\"?); it has age, dose_mg"
        );
        assert_eq!(unknown("weight").to_string(), "the spec has no input \"weight\"; it has age, dose_mg");
    }
}

//! What a guarantee is about: the pairs of data sets that it compares, and the release that it covers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Relation;

/// Which pairs of data sets the guarantee compares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One target changes by at most this much (in the target's units); inputs are public.
    OneTargetChanges(f64),
    /// Inputs and target of one record: it is replaced, or added or removed.
    OneRecord(Relation),
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneTargetChanges(by) => write!(f, "one target changes by <= {by:?}"),
            Self::OneRecord(Relation::ReplaceOne) => f.write_str("one record is replaced"),
            Self::OneRecord(Relation::AddRemove) => f.write_str("one record is added or removed"),
        }
    }
}

/// The release that a guarantee covers. The rows of a table average or describe many releases; the guarantee is that of
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// The predictions for one fold's test inputs.
    FoldPredictions,
    /// The predictions on a grid.
    Predictions,
    /// The latent function of a classifier, and all predictions from it.
    LatentFunction,
    /// A histogram, and all that is computed from it.
    Histogram,
    /// A function, at any number of inputs.
    Function,
    /// The index of the candidate selected; not its errors or probabilities.
    SelectedIndex,
    /// The fitted posterior, and every step on the way to it.
    Posterior,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FoldPredictions => "for the predictions of one fold",
            Self::LatentFunction => "for the latent function and all predictions from it",
            Self::Predictions => "for all predictions on the grid",
            Self::Histogram => "for the histogram and all computed from it",
            Self::Function => "for the whole function",
            Self::Posterior => "for the fitted posterior",
            Self::SelectedIndex => "for the index selected, not for the numbers of this row",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two releases are said to be about the same.
    #[test]
    fn every_release_says_what_it_covers() {
        let all = [
            Release::FoldPredictions,
            Release::LatentFunction,
            Release::Predictions,
            Release::Histogram,
            Release::Function,
            Release::SelectedIndex,
            Release::Posterior,
        ];
        let mut said = all.map(|release| release.to_string());
        said.sort();
        assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{said:?}");
        assert!(said.iter().all(|words| words.starts_with("for the ") || words.starts_with("for all ")));
    }
}

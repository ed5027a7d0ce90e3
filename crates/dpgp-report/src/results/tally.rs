//! The printed numbers of a paper, counted for its readers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::examined::Examined;
use super::reason::PlaceVerdict;
use super::told::{NumberPlace, ToldRow};
use crate::table::Verdict;
use dpgp_spec::Coverage;

/// The tag of experiments on toys: a few points that nobody measured.
const TOY: &str = "toy";

/// How many numbers of a paper are what. Those that show little are apart: exact zeros, spreads of means that a setting was chosen by, and
/// numbers of a toy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All that it prints about results.
    pub printed: usize,
    /// Those that are entered.
    pub entered: usize,
    /// Inside what one run of ours gives.
    pub same: usize,
    /// Of these, those inside an interval that is wider than what matters.
    pub wide: usize,
    /// Inside, where a setting was chosen by it.
    pub with_settings: usize,
    /// Outside, in a place whose reason is known, or no more often than by chance.
    pub with_reason: usize,
    /// Outside, for an unknown reason.
    pub unknown: usize,
    /// Nothing can be told.
    pub untold: usize,
    /// Exact zeros.
    pub zeros: usize,
    /// Of these, those that agree.
    pub agreeing_zeros: usize,
    /// Spreads of means that a setting was chosen by.
    pub fitted_spreads: usize,
    /// Numbers of a toy.
    pub toy: usize,
}

impl Tally {
    /// Of a paper, by what its places are told to be.
    pub fn of(coverage: Option<&Coverage>, examined: &[Examined<'_>], rows: &[ToldRow]) -> Self {
        let mut tally = Self {
            printed: coverage.map_or(0, |paper| paper.items.iter().map(|item| item.numbers).sum()),
            ..Self::default()
        };
        let places: BTreeMap<&NumberPlace, &PlaceVerdict> = rows
            .iter()
            .flat_map(|row| row.numbers.iter().map(move |number| (number, &row.verdict)))
            .collect();
        for one in examined {
            let Some(committed) = &one.committed else { continue };
            let is_toy = one.experiment.meta.tags.iter().any(|tag| tag == TOY);
            for (at, row) in committed.rows.iter().enumerate() {
                for spread in [false, true] {
                    let [print, verdict] = if spread {
                        ["published_spread", "spread_verdict"]
                    } else {
                        ["published", "verdict"]
                    };
                    let print = committed.field(row, print);
                    if print.is_empty() {
                        continue;
                    }
                    tally.entered += 1;
                    let place = NumberPlace { experiment: one.experiment.name.clone(), row: at, spread };
                    let is_fitted = committed.field(row, "verdict") == Verdict::Fitted.name();
                    if is_toy {
                        tally.toy += 1;
                    } else if spread && is_fitted {
                        tally.fitted_spreads += 1;
                    } else if !spread && print.parse() == Ok(0.0) {
                        tally.zeros += 1;
                        tally.agreeing_zeros +=
                            usize::from(committed.field(row, verdict) == Verdict::Agrees.name());
                    } else {
                        tally.add(Verdict::named(committed.field(row, verdict)), places.get(&place).copied());
                    }
                }
            }
        }
        tally
    }

    fn add(&mut self, verdict: Option<Verdict>, place: Option<&PlaceVerdict>) {
        match (verdict, place) {
            (Some(Verdict::Agrees | Verdict::Inconclusive), Some(PlaceVerdict::SameWithSettings))
            | (Some(Verdict::Fitted), _) => self.with_settings += 1,
            (Some(Verdict::Agrees), _) => self.same += 1,
            // Inside, and so is what stands beside it.
            (Some(Verdict::Inconclusive), Some(PlaceVerdict::Same)) => {
                (self.same, self.wide) = (self.same + 1, self.wide + 1);
            }
            (Some(Verdict::Differs), Some(PlaceVerdict::Unknown(_)) | None) => self.unknown += 1,
            (Some(Verdict::Differs), Some(_)) => self.with_reason += 1,
            _ => self.untold += 1,
        }
    }
}

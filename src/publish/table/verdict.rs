//! Whether a result agrees with what was published.

use crate::spec::{Published, SpreadKind};
use crate::task::Row;

/// The verdict on one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within the stated tolerance, or two joint standard errors.
    Agrees,
    /// Outside.
    Differs,
    /// Too few repeats to tell.
    Inconclusive,
    /// Computed from other data than the paper's.
    StandIn,
    /// Nothing is published.
    None,
}

/// Joint standard errors within which two means agree.
const WITHIN: f64 = 2.0;
/// Fewer repeats than this cannot show a difference.
const FEW: usize = 5;

impl Verdict {
    /// The verdict on a row: by the stated tolerance if there is one, else by the standard errors of both
    /// means and the printed precision (a rounding error is uniform: its sd is precision / sqrt 12). A stated tolerance
    /// supposes the repeats of the whole experiment: outside it, `reduced` settings show nothing.
    pub fn new(row: &Row, published: &Published, stand_in: bool, reduced: bool) -> Self {
        if stand_in {
            return Self::StandIn;
        }
        let difference = (row.value - published.value).abs();
        if let Some(tolerance) = published.tolerance {
            return match (difference <= tolerance, reduced) {
                (true, _) => Self::Agrees,
                (false, true) => Self::Inconclusive,
                (false, false) => Self::Differs,
            };
        }
        let ours = standard_error(row.spread, row.spread_kind, row.repeats);
        let count = published.count.map_or(1, |n| n as usize);
        let theirs = match (published.runs, row.spread_kind) {
            (Some(runs), SpreadKind::SdReplicates) => {
                standard_error(row.spread, row.spread_kind, runs as usize)
            }
            _ => standard_error(published.spread, published.spread_kind, count),
        };
        let rounding = published.precision / 12f64.sqrt();
        let joint = (ours * ours + theirs * theirs + rounding * rounding).sqrt();
        if difference <= WITHIN * joint || difference <= 0.5 * published.precision {
            Self::Agrees
        } else if row.spread.is_some() && row.repeats < FEW {
            Self::Inconclusive
        } else {
            Self::Differs
        }
    }

    /// The verdict of this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Agrees, Self::Differs, Self::Inconclusive, Self::StandIn, Self::None];
        all.into_iter().find(|verdict| verdict.name() == name)
    }

    /// Its name, as result tables show it; empty where nothing is published.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Inconclusive => "inconclusive",
            Self::StandIn => "stand-in",
            Self::None => "",
        }
    }
}

/// The standard error of a mean from the spread over so many values; zero where there is none.
pub fn standard_error(spread: Option<f64>, kind: SpreadKind, count: usize) -> f64 {
    let spread = spread.unwrap_or(0.0);
    match kind {
        SpreadKind::None => 0.0,
        SpreadKind::StandardError => spread,
        SpreadKind::SdFolds | SpreadKind::SdReplicates => spread / (count.max(1) as f64).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Certificate;
    use crate::spec::HowRead;

    fn row(value: f64, spread: f64, repeats: usize) -> Row {
        let certificate = Certificate::none();
        let (cell, metric, spread_kind) = (0, "m".to_owned(), SpreadKind::SdFolds);
        Row { cell, metric, value, spread: Some(spread), spread_kind, repeats, certificate, jitter: 0.0 }
    }

    fn published(value: f64, tolerance: Option<f64>) -> Published {
        Published {
            cell: 0,
            metric: "m".to_owned(),
            value,
            spread: Some(4.0),
            spread_kind: SpreadKind::SdFolds,
            count: Some(16),
            runs: None,
            precision: 0.1,
            tolerance,
            source: String::new(),
            read: HowRead::Printed,
        }
    }

    /// Of a value with a spread of 3 over so many repeats beside the published value 10.
    fn verdict(value: f64, repeats: usize, tolerance: Option<f64>, stand_in: bool, reduced: bool) -> Verdict {
        Verdict::new(&row(value, 3.0, repeats), &published(10.0, tolerance), stand_in, reduced)
    }

    #[test]
    fn by_joint_standard_errors() {
        // Standard errors 0.75 and 1 join to 1.25 (and a little for rounding): 2.5 is the limit.
        assert_eq!(verdict(12.49, 16, None, false, false), Verdict::Agrees);
        assert_eq!(verdict(12.53, 16, None, false, false), Verdict::Differs);
        assert_eq!(verdict(19.0, 2, None, false, false), Verdict::Inconclusive);
        assert_eq!(verdict(19.0, 2, None, true, false), Verdict::StandIn);
    }

    /// A single run is compared with the distribution over replicates, whatever spread it was printed with.
    #[test]
    fn of_a_single_run() {
        for (value, runs, expected) in [
            (15.9, Some(1), Verdict::Agrees),
            (16.1, Some(1), Verdict::Differs),
            (15.9, None, Verdict::Differs),
        ] {
            let row = Row { spread_kind: SpreadKind::SdReplicates, ..row(value, 3.0, 200) };
            let published = Published { runs, ..published(10.0, None) };
            assert_eq!(Verdict::new(&row, &published, false, false), expected);
        }
    }

    #[test]
    fn by_tolerance() {
        assert_eq!(verdict(10.2, 16, Some(0.1), false, false), Verdict::Differs);
        assert_eq!(verdict(10.05, 1, Some(0.1), false, false), Verdict::Agrees);
        assert_eq!(verdict(10.2, 2, Some(0.1), false, true), Verdict::Inconclusive);
    }
}

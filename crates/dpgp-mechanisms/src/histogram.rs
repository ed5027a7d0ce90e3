//! Histograms: the change that one person makes in them, and the statistic that is released of each bin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use dpgp_accounting::Relation;

/// The statistic that is released of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// How many records there are; where the records are private.
    Count,
    /// The mean of their targets; where only the targets are private.
    Mean,
    /// The median of their targets; where only the targets are private.
    Median,
}

/// How far a histogram of counts moves (in the Euclidean norm) between neighbours.
///
/// A record added or removed changes one bin by 1; a replaced one may leave a bin and enter another, `sqrt 2`.
///
/// ```
/// use dpgp_accounting::Relation;
/// use dpgp_mechanisms::count_sensitivity;
/// assert_eq!(count_sensitivity(Relation::AddRemove), 1.0);
/// assert_eq!(count_sensitivity(Relation::ReplaceOne), 2f64.sqrt());
/// ```
pub fn count_sensitivity(relation: Relation) -> f64 {
    match relation {
        Relation::AddRemove => 1.0,
        Relation::ReplaceOne => std::f64::consts::SQRT_2,
    }
}

impl Statistic {
    /// The statistic of the targets of one bin; none of an empty one, which has no mean.
    pub fn of(self, targets: &[f64]) -> Option<f64> {
        let n = targets.len();
        if self == Self::Count {
            return Some(n as f64);
        }
        if n == 0 {
            return None;
        }
        Some(match self {
            Self::Count | Self::Mean => targets.iter().sum::<f64>() / n as f64,
            Self::Median => {
                let mut sorted = targets.to_vec();
                sorted.sort_by(f64::total_cmp);
                0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
            }
        })
    }

    /// How far the statistic of a bin with `n` records moves when one target moves by at most `change` within an interval
    /// of that length; the number of records is public. Only one bin moves, so noise in proportion to each bin's own
    /// value has the sensitivity 1 in its metric.
    ///
    /// A mean moves by `change / n`. A median of an odd number may move from one end of the interval to the other; of an
    /// even number it is the middle of two neighbours in the order, and `m' - m <= (y_(k+1) - y_(k-1)) / 2 <= change / 2`.
    ///
    /// ```
    /// use dpgp_mechanisms::Statistic;
    /// assert_eq!(Statistic::Mean.sensitivity(4, 2.0), 0.5);
    /// assert_eq!(Statistic::Median.sensitivity(4, 2.0), 1.0);
    /// assert_eq!(Statistic::Median.sensitivity(5, 2.0), 2.0);
    /// ```
    pub fn sensitivity(self, n: usize, change: f64) -> f64 {
        match self {
            // No target enters a count, and records are public where targets change.
            Self::Count => 0.0,
            Self::Mean => change / n as f64,
            Self::Median if n % 2 == 1 => change,
            Self::Median => 0.5 * change,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_bins_and_how_far_they_move() {
        let targets = [5.0, 1.0, 4.0, 2.0];
        assert_eq!(
            [Statistic::Count, Statistic::Mean, Statistic::Median].map(|which| which.of(&targets)),
            [Some(4.0), Some(3.0), Some(3.0)]
        );
        assert_eq!(Statistic::Median.of(&targets[..3]), Some(4.0));
        assert_eq!((Statistic::Count.of(&[]), Statistic::Mean.of(&[])), (Some(0.0), None));
        for (n, moves) in [(4, [0.0, 0.75, 1.5]), (5, [0.0, 0.6, 3.0])] {
            let found =
                [Statistic::Count, Statistic::Mean, Statistic::Median].map(|which| which.sensitivity(n, 3.0));
            assert_eq!(found, moves, "{n}");
        }
        assert_eq!(count_sensitivity(Relation::AddRemove), 1.0);
        assert!((count_sensitivity(Relation::ReplaceOne).powi(2) - 2.0).abs() < 1e-15);
    }
}

//! Settings for equally spaced numbers, for the threshold between two classes, and for splits of rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SpecProblem;
use super::rules::{CheckResult, check_count, check_dimension, check_range, fail};
use dpgp_data::Comparison;
use dpgp_number::{Finite, Positive};

/// Equally spaced numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeSetting {
    /// The first number.
    pub from: f64,
    /// The last number.
    pub to: f64,
    /// The number of points.
    #[schemars(range(min = 2, max = 20_000))]
    pub points: usize,
}

impl RangeSetting {
    /// The number at a position, from 0.
    pub fn value_at(&self, place: usize) -> f64 {
        match place + 1 == self.points {
            // Not a rounding error beyond.
            true => self.to,
            false => self.from + (self.to - self.from) * place as f64 / (self.points - 1) as f64,
        }
    }

    /// Whether a number is one of these numbers, up to rounding.
    pub fn contains_value(&self, x: f64) -> bool {
        let place = (x - self.from) / (self.to - self.from) * (self.points - 1) as f64;
        (place - place.round()).abs() < 1e-6 && (0.0..=(self.points - 1) as f64 + 1e-6).contains(&place)
    }
}

/// A range cut into intervals of equal width, or of widths that grow with the distance from zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BinRangeSetting {
    /// Where the first interval begins.
    pub from: f64,
    /// Where the last interval ends.
    pub to: f64,
    /// The number of intervals.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub bins: usize,
    /// If a number c is given, intervals have equal width on the scale `sign(x) log(1 + |x| / c)`. Far below c they are nearly
    /// equally wide, and far above c each is wider than the one before by the same factor. Use it for amounts whose order of
    /// magnitude is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Positive>,
}

impl BinRangeSetting {
    /// The ends of the intervals, in increasing order: one more than there are intervals.
    ///
    /// Each end is computed by itself, because adding widths would accumulate rounding errors.
    ///
    /// ```
    /// use dpgp_number::Positive;
    /// use dpgp_spec::setting::BinRangeSetting;
    /// let even = BinRangeSetting { from: 0.0, to: 3.0, bins: 2, log: None };
    /// assert_eq!(even.edges(), [0.0, 1.5, 3.0]);
    /// // log2(1 + x) is 0, 1 and 2 at 0, 1 and 3.
    /// let growing = BinRangeSetting { log: Some(Positive::ONE), ..even }.edges();
    /// assert!((growing[1] - 1.0).abs() < 1e-15 && growing[2] == 3.0);
    /// ```
    pub fn edges(&self) -> Vec<f64> {
        let Self { from, to, bins, log } = *self;
        let between = |low: f64, high: f64, i: usize| low + (high - low) * i as f64 / bins as f64;
        match log {
            None => (0..=bins).map(|i| between(from, to, i)).collect(),
            Some(unit) => {
                let unit = unit.get();
                let [first, last] = [from, to].map(|x: f64| x.signum() * (x.abs() / unit).ln_1p());
                let edge = |i: usize| {
                    let t: f64 = between(first, last, i);
                    t.signum() * unit * t.abs().exp_m1()
                };
                // The ends are those that are written.
                (0..=bins)
                    .map(|i| {
                        if i == 0 {
                            from
                        } else if i == bins {
                            to
                        } else {
                            edge(i)
                        }
                    })
                    .collect()
            }
        }
    }
}

/// The most bins of a histogram.
const MOST_BINS: usize = 20_000;

/// Fails unless there is a rising range for each input, and their product can be counted.
///
/// # Errors
/// [`super::SpecProblem::WrongDimension`], [`super::SpecProblem::OutOfRange`].
pub fn check_bin_ranges(path: &str, cuts: &[BinRangeSetting], inputs: usize) -> CheckResult {
    check_dimension(path, inputs, cuts.len())?;
    let total = cuts.iter().fold(1, |n: usize, cut| n.saturating_mul(cut.bins));
    check_range(path, total <= MOST_BINS, "small enough for a grid of at most 20000 bins", total as f64)?;
    for (i, cut) in cuts.iter().enumerate() {
        let BinRangeSetting { from, to, bins, .. } = cut;
        check_range(&format!("{path}.{i}.from"), from.is_finite(), "finite", *from)?;
        check_range(&format!("{path}.{i}.to"), to.is_finite() && to > from, "greater than `from` and finite", *to)?;
        check_count(&format!("{path}.{i}.bins"), *bins)?;
        let edges = cut.edges();
        let rises = edges.windows(2).all(|pair| pair[0] < pair[1]) && edges.iter().all(|edge| edge.is_finite());
        check_range(
            &format!("{path}.{i}.bins"),
            rises,
            "small enough that every bin has two distinct edges",
            *bins as f64,
        )?;
    }
    Ok(())
}

/// A comparison with a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSetting {
    /// The comparison.
    pub is: Comparison,
    /// The number.
    pub value: Finite,
}

/// How rows are split into folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SplitSetting {
    /// Rows are shuffled (seeded), then cut into this many folds.
    Shuffled(usize),
    /// Rows are cut into this many folds, in file order.
    Contiguous(usize),
    /// Row i goes to fold i modulo this number.
    Interleaved(usize),
    /// A single fold. Its test rows are this many rows at the end of the data.
    Tail(usize),
}

impl SplitSetting {
    /// The fewest rows that can be split: the number of folds, except for [`Self::Tail`].
    pub fn min_row_count(self) -> usize {
        match self {
            Self::Tail(rows) => rows + 1,
            Self::Shuffled(folds) | Self::Contiguous(folds) | Self::Interleaved(folds) => folds,
        }
    }

    /// Number of folds.
    pub fn fold_count(self) -> usize {
        match self {
            Self::Tail(_) => 1,
            Self::Shuffled(folds) | Self::Contiguous(folds) | Self::Interleaved(folds) => folds,
        }
    }

    /// Fails unless there are folds.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`].
    pub fn check(self, path: &str) -> CheckResult {
        if let Self::Tail(rows) = self {
            return check_count(&format!("{path}.tail"), rows);
        }
        check_range(path, self.min_row_count() >= 2, "at least 2", self.min_row_count() as f64)
    }

    /// Fails unless there is a row for each fold.
    ///
    /// # Errors
    /// [`SpecProblem::TooManyFolds`].
    pub fn check_row_count(self, path: &str, rows: usize) -> CheckResult {
        let folds = self.min_row_count();
        if folds <= rows { Ok(()) } else { fail(path, SpecProblem::TooManyFolds { folds, rows }) }
    }
}

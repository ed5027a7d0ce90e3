//! How much of a paper is checked, and with what outcome.

use super::committed::Committed;
use super::counts::{OutcomeCounts, VerdictCounts};
use crate::spec::{ClaimOwner, Coverage, CoverageItem, Owner};
use crate::task::Experiment;

/// The standing of one paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Covered {
    /// Numbers that it prints about results.
    pub numbers: usize,
    /// Those that are entered, spreads included.
    pub entered: VerdictCounts,
    /// Statements that it makes about results.
    pub statements: usize,
    /// Those that are entered.
    pub claims: OutcomeCounts,
    /// Of numbers that are random: the shares of runs of ours that lie farther out.
    pub p_values: Vec<f64>,
    /// Of these numbers: rows in which that of another method would agree as well, and rows with another method.
    pub confused: Confused,
}

/// How often a number would agree if it were that of another method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confused {
    /// Rows where it would.
    pub swapped: usize,
    /// Rows that have another method beside them.
    pub rows: usize,
}

/// An experiment and what stands in its result folder.
pub struct Standing<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its results, if there are any.
    pub committed: Option<Committed>,
}

impl Covered {
    /// By what a paper has and what its experiments reached.
    pub fn new(coverage: &Coverage, experiments: &[&Standing<'_>]) -> Self {
        let mut covered = Self {
            numbers: coverage.items.iter().map(|item| item.numbers).sum(),
            statements: coverage.items.iter().map(|item| item.statements).sum(),
            ..Self::default()
        };
        for standing in experiments {
            let Some(committed) = &standing.committed else { continue };
            covered.entered.add(committed.counts(Owner::Paper));
            covered.entered.add(committed.spread_counts());
            covered.claims.add(OutcomeCounts::of(&committed.claims, ClaimOwner::Paper));
            let values = committed.rows.iter().map(|row| committed.field(row, "p_value").parse::<f64>());
            covered.p_values.extend(values.flatten());
            let confused = Confused::of(standing.experiment, committed);
            covered.confused.swapped += confused.swapped;
            covered.confused.rows += confused.rows;
        }
        covered
    }

    /// Numbers that are not entered.
    pub fn unchecked(&self) -> usize {
        self.numbers.saturating_sub(self.entered.total())
    }

    /// The share of random numbers that lie outside the central 95 %.
    pub fn share_outside(&self) -> Option<f64> {
        let outside = self.p_values.iter().filter(|p| **p < 0.05).count();
        (!self.p_values.is_empty()).then(|| outside as f64 / self.p_values.len() as f64)
    }

    /// The largest distance between the shares of p-values below a level and the level (Kolmogorov and Smirnov), and how often
    /// as large a distance is chance if all procedures are the papers'; none for fewer than five.
    pub fn uniformity(&self) -> Option<Uniformity> {
        let count = self.p_values.len();
        if count < 5 {
            return None;
        }
        let mut sorted = self.p_values.clone();
        sorted.sort_by(f64::total_cmp);
        let places = sorted.iter().enumerate();
        let distances =
            places.map(|(i, p)| (p - i as f64 / count as f64).max((i + 1) as f64 / count as f64 - p));
        let distance = distances.fold(0.0, f64::max);
        Some(Uniformity { distance, p_value: kolmogorov(distance, count) })
    }
}

/// A test of whether p-values are uniform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniformity {
    /// The largest distance.
    pub distance: f64,
    /// How often it is as large by chance.
    pub p_value: f64,
}

/// `2 sum over k of (-1)^(k-1) exp(-2 k^2 x^2)` at `x = (sqrt n + .12 + .11 / sqrt n) D`, which is right to .01 from n = 5 on.
/// Source: Stephens 1970.
fn kolmogorov(distance: f64, count: usize) -> f64 {
    let root = (count as f64).sqrt();
    let x = (root + 0.12 + 0.11 / root) * distance;
    // The series is of use where it converges; below, nearly every sample is as far away.
    if x < 0.3 {
        return 1.0;
    }
    let terms = (1..=20).map(|k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

impl Confused {
    /// Over the rows of an experiment that differ in the first named axis alone, which is that of methods.
    pub fn of(experiment: &Experiment, committed: &Committed) -> Self {
        let Some(axis) = experiment.axes.iter().find(|axis| axis.is_bundle()) else { return Self::default() };
        let fixed: Vec<&str> = experiment
            .axes
            .iter()
            .map(|other| other.name.as_str())
            .filter(|name| *name != axis.name)
            .collect();
        let printed: Vec<&Vec<String>> =
            committed.rows.iter().filter(|row| !committed.field(row, "published").is_empty()).collect();
        let mut confused = Self::default();
        for row in &printed {
            let same_line = |other: &&&Vec<String>| {
                let columns = fixed.iter().chain(std::iter::once(&"metric"));
                other[..] != row[..]
                    && columns
                        .into_iter()
                        .all(|column| committed.field(other, column) == committed.field(row, column))
            };
            let others: Vec<f64> = printed
                .iter()
                .filter(same_line)
                .filter_map(|other| committed.field(other, "published").parse().ok())
                .collect();
            let ends =
                ["interval_low", "interval_high"].map(|column| committed.field(row, column).parse::<f64>());
            let [Ok(low), Ok(high)] = ends else { continue };
            if !others.is_empty() {
                confused.rows += 1;
                confused.swapped += usize::from(others.iter().any(|value| (low..=high).contains(value)));
            }
        }
        confused
    }
}

/// The experiments of a paper that check a part of it: their numbers and statements there.
pub fn entered(item: &CoverageItem, experiments: &[&Experiment]) -> Entered {
    let mut entered = Entered::default();
    for experiment in experiments.iter().filter(|experiment| item.checked.contains(&experiment.name)) {
        let own =
            experiment.counterparts.iter().filter(|one| one.owner == Owner::Paper && item.holds(&one.source));
        entered.numbers += own.map(|one| 1 + usize::from(one.spread.is_some())).sum::<usize>();
        let claims = experiment.claims.iter().filter(|claim| item.holds(&claim.place));
        entered.statements += claims.count();
    }
    entered
}

/// What is entered of a part of a paper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Entered {
    /// Printed numbers.
    pub numbers: usize,
    /// Statements.
    pub statements: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(p_values: Vec<f64>) -> Covered {
        Covered { p_values, ..Covered::default() }
    }

    /// From a table of Kolmogorov and Smirnov: D = .409 is exceeded with probability .05 at n = 10.
    #[test]
    fn uniformity_is_that_of_the_tables() {
        assert!((kolmogorov(0.409, 10) - 0.05).abs() < 0.005, "{}", kolmogorov(0.409, 10));
        let even = with((0..20).map(|i| (f64::from(i) + 0.5) / 20.0).collect());
        assert!(even.uniformity().unwrap().p_value > 0.99);
        assert_eq!(even.share_outside(), Some(0.05));
        let piled = with((0..20).map(|i| f64::from(i) / 200.0).collect());
        assert!(piled.uniformity().unwrap().p_value < 1e-6);
        assert_eq!((with(vec![0.5]).uniformity(), with(Vec::new()).share_outside()), (None, None));
    }
}

//! How much of a paper is checked, and with what outcome.

use super::committed::Committed;
use super::counts::{OutcomeCounts, VerdictCounts};
use crate::spec::{ClaimOwner, Coverage, Owner};
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
}

/// An experiment and what stands in its result folder.
pub struct Examined<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its results, if there are any.
    pub committed: Option<Committed>,
}

impl Covered {
    /// By what a paper has and what its experiments reached.
    pub fn new(coverage: &Coverage, experiments: &[&Examined<'_>]) -> Self {
        let mut covered = Self {
            numbers: coverage.items.iter().map(|item| item.numbers).sum(),
            statements: coverage.items.iter().map(|item| item.statements).sum(),
            ..Self::default()
        };
        for examined in experiments {
            let Some(committed) = &examined.committed else { continue };
            covered.entered.add(committed.counts(Owner::Paper));
            covered.entered.add(committed.spread_counts());
            covered.claims.add(OutcomeCounts::of(&committed.claims, ClaimOwner::Paper));
            let values = committed.rows.iter().map(|row| committed.field(row, "p_value").parse::<f64>());
            covered.p_values.extend(values.flatten());
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_outside_is_that_below_a_twentieth() {
        let even = (0..20).map(|i| (f64::from(i) + 0.5) / 20.0).collect();
        let covered = Covered { p_values: even, ..Covered::default() };
        assert_eq!((covered.share_outside(), Covered::default().share_outside()), (Some(0.05), None));
    }
}

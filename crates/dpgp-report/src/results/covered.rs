//! The checked part of a paper, with the outcomes. Also tests whether p-values are uniform, as chance alone would make them.

use serde::Serialize;

use super::committed::ExperimentResults;
use super::counts::{ClaimOutcomeCounts, VerdictCounts};
use dpgp_spec::{ClaimOwner, PaperCoverage, ReferenceValueOwner};

/// The standing of one paper.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PaperCoverageSummary {
    /// Its key.
    pub paper: String,
    /// Numbers that it prints about results.
    pub numbers: usize,
    /// Numbers that are entered, including spreads.
    pub entered: VerdictCounts,
    /// Those that are not.
    pub not_entered: usize,
    /// Numbers by which we chose a setting.
    pub chosen_by: usize,
    /// Statements that it makes about results, as tests of them.
    pub statements: usize,
    /// Those that are entered.
    pub claims: ClaimOutcomeCounts,
    /// Those that are not.
    pub not_claimed: usize,
    /// The p-values of random numbers: the shares of our runs that lie farther out.
    #[serde(skip)]
    pub p_values: Vec<f64>,
    /// The experiment that has the most of them, and how many.
    #[serde(skip)]
    pub most: (String, usize),
}

impl PaperCoverageSummary {
    /// Counts a paper's items and the verdicts of its experiments.
    pub fn new(coverage: &PaperCoverage, experiments: &[ExperimentResults<'_>]) -> Self {
        let mut covered = Self {
            paper: coverage.paper.clone(),
            numbers: coverage.items.iter().map(|item| item.numbers).sum(),
            statements: coverage.items.iter().map(|item| item.statements).sum(),
            ..Self::default()
        };
        for examined in experiments {
            let chosen_by = examined.experiment.counterparts.iter();
            covered.chosen_by +=
                chosen_by.filter(|one| one.owner == ReferenceValueOwner::Paper && one.fitted.is_some()).count();
            let Some(committed) = &examined.committed else { continue };
            covered.entered.add(committed.verdict_counts(ReferenceValueOwner::Paper));
            covered.entered.add(committed.spread_verdict_counts());
            covered.claims.add(ClaimOutcomeCounts::count(&committed.claims, ClaimOwner::Paper));
            let values = committed.rows.iter().map(|row| committed.field(row, "p_value").parse::<f64>());
            let before = covered.p_values.len();
            covered.p_values.extend(values.flatten());
            let own = covered.p_values.len() - before;
            if own > covered.most.1 {
                covered.most = (examined.experiment.name.clone(), own);
            }
        }
        covered.not_entered = covered.numbers.saturating_sub(covered.entered.total());
        covered.not_claimed = covered.statements.saturating_sub(covered.claims.total());
        covered
    }

    /// The share of random numbers that lie outside the central 95 %.
    pub fn share_outside_central_95(&self) -> Option<f64> {
        let outside = self.p_values.iter().filter(|p| **p <= 0.05).count();
        (!self.p_values.is_empty()).then(|| outside as f64 / self.p_values.len() as f64)
    }

    /// A sentence on the share of the disagreement that may be chance.
    pub fn chance_sentence(&self) -> Option<String> {
        let share = self.share_outside_central_95()?;
        let (experiment, most) = &self.most;
        let outside = format!(
            "{}: {} printed numbers can be compared with results of ours that vary between replicates, use the paper's \
             data and are not fitted ({most} of them in {experiment}). {:.0} % of them lie outside the central 95 % of \
             our runs; for a paper that is reproduced exactly, 5 % would be expected",
            self.paper,
            self.p_values.len(),
            100.0 * share
        );
        // None for too few.
        let test = UniformityTest::test(&self.p_values)?;
        let p_value = if test.p_value < 0.01 { "p < 0.01".to_owned() } else { format!("p = {:.2}", test.p_value) };
        Some(format!(
            "{outside}. If all were independent (numbers in one table are not), the Kolmogorov-Smirnov test of uniform \
             p-values would give {p_value} (D = {:.2}).",
            test.distance
        ))
    }
}

/// The least number of p-values for a test.
const LEAST: usize = 5;

/// The test of Kolmogorov and Smirnov on p-values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UniformityTest {
    /// The largest distance between the share of p-values below a level and the level.
    pub distance: f64,
    /// The probability of a distance at least as large by chance, if they are independent.
    pub p_value: f64,
}

impl UniformityTest {
    /// Tests some p-values; none for fewer than five.
    pub fn test(p_values: &[f64]) -> Option<Self> {
        let count = p_values.len();
        if count < LEAST {
            return None;
        }
        let mut sorted = p_values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (mut distance, all) = (0.0f64, count as f64);
        for (place, p) in sorted.iter().enumerate() {
            distance = distance.max(p - place as f64 / all).max((place + 1) as f64 / all - p);
        }
        Some(Self { distance, p_value: kolmogorov_p_value(distance, count) })
    }
}

/// `2 sum over k of (-1)^(k-1) exp(-2 k^2 x^2)` at `x = (sqrt n + .12 + .11 / sqrt n) D`, which is right to .01 from n = 5 on.
/// Source: Stephens 1970.
fn kolmogorov_p_value(distance: f64, count: usize) -> f64 {
    let root = (count as f64).sqrt();
    let x = (root + 0.12 + 0.11 / root) * distance;
    // The series converges only above; below, nearly every sample is as far away.
    if x < 0.3 {
        return 1.0;
    }
    let terms = (1..=20).map(|k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::committed::CommittedResults;

    #[test]
    fn the_share_outside_is_that_below_a_twentieth() {
        let even = (0..20).map(|i| (f64::from(i) + 0.5) / 20.0).collect();
        let covered = PaperCoverageSummary { p_values: even, ..PaperCoverageSummary::default() };
        assert_eq!(
            (covered.share_outside_central_95(), PaperCoverageSummary::default().share_outside_central_95()),
            (Some(0.05), None)
        );
    }

    fn chance_of(p_values: Vec<f64>) -> Option<String> {
        PaperCoverageSummary { p_values, ..PaperCoverageSummary::default() }.chance_sentence()
    }

    /// All five at .001: D = .999, whose p-value is below .01; fewer tell nothing.
    #[test]
    fn small_p_values_are_told_as_such() {
        let told = chance_of(vec![0.001; 5]).unwrap();
        assert!(told.contains("would give p < 0.01 (D = 1.00)"), "{told}");
        assert!(told.contains("100 % of them lie outside"), "{told}");
        assert_eq!((chance_of(vec![0.001; 4]), chance_of(Vec::new())), (None, None));
    }

    /// The experiment with most random numbers is named; of several, the first.
    #[test]
    fn the_experiment_with_most_random_numbers_is_named() {
        let named = |name: &str| {
            let mut experiment = crate::figure::fabricated::experiment(&["a"], "");
            experiment.name = name.to_owned();
            experiment
        };
        let experiments = ["few", "first", "second"].map(named);
        let examined: Vec<ExperimentResults<'_>> = experiments
            .iter()
            .zip([&["0.5", ""][..], &["0.5", "0.25", "0.75"], &["0.125", "0.5", "0.5"]])
            .map(|(experiment, p_values)| {
                let committed = CommittedResults {
                    headings: vec!["p_value".to_owned()],
                    rows: p_values.iter().map(|p| vec![(*p).to_owned()]).collect(),
                    claims: Vec::new(),
                    figure: None,
                    manifest: None,
                };
                ExperimentResults { experiment, committed: Some(committed) }
            })
            .collect();
        let coverage: PaperCoverage = toml::from_str("paper = \"p\"\nreference = \"\"\nitem = []\n").unwrap();
        let covered = PaperCoverageSummary::new(&coverage, &examined);
        assert_eq!(covered.most, ("first".to_owned(), 3));
        assert_eq!(covered.p_values, [0.5, 0.5, 0.25, 0.75, 0.125, 0.5, 0.5]);
    }
}

#[cfg(test)]
mod uniformity_tests {
    use super::*;

    /// From a table of Kolmogorov and Smirnov: D = .409 is exceeded with probability .05 at n = 10.
    #[test]
    fn uniformity_is_that_of_the_tables() {
        assert!((kolmogorov_p_value(0.409, 10) - 0.05).abs() < 0.005, "{}", kolmogorov_p_value(0.409, 10));
        let even: Vec<f64> = (0..20).map(|i| (f64::from(i) + 0.5) / 20.0).collect();
        assert!(UniformityTest::test(&even).unwrap().p_value > 0.99);
        let piled: Vec<f64> = (0..20).map(|i| f64::from(i) / 200.0).collect();
        assert!(UniformityTest::test(&piled).unwrap().p_value < 1e-6);
        // Where the series no longer converges, every sample is as far away.
        assert_eq!([0.0, 1e-6, 0.003].map(|distance| kolmogorov_p_value(distance, 10)), [1.0; 3]);
        assert_eq!(UniformityTest::test(&[0.5]), None);
    }

    /// Of one p-value of .1 and four of .9 a fifth lies below .9: the distance is .7, on either side of the middle.
    #[test]
    fn the_distance_counts_both_sides() {
        for p_values in [[0.1, 0.9, 0.9, 0.9, 0.9], [0.9, 0.1, 0.1, 0.1, 0.1]] {
            let found = UniformityTest::test(&p_values).unwrap().distance;
            assert!((found - 0.7).abs() < 1e-15, "{found}");
        }
    }
}

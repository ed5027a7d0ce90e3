//! The task that computes the numbers of an erratum, with the numbers of Table 2 of Smith et al. 2021 and its
//! statements about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Erratum;
use crate::{AuditableCertificate, CellMeasurements, MeasurableTask, ReplicateJob, TaskError, TaskRequirements};
use dpgp_accounting::gaussian_delta;
use dpgp_mechanisms::{Sections, cloaking_setting};
use dpgp_spec::setting::CheckResult;

impl MeasurableTask for ErrataTask {
    /// The same exact numbers for every cell; nothing of them is private.
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let numbers = self.erratum.numbers()?;
        let ErratumNumbers { claimed, found, holds, corrected } = numbers;
        let values = [claimed, found, f64::from(u8::from(holds)), corrected, numbers.looseness_factor()];
        let measured =
            AuditableCertificate::without_claim().into_measurements(0.0, Self::METRICS.into_iter().zip(values));
        Ok(vec![measured; job.cells.len()])
    }
}

/// The numbers of an erratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErratumNumbers {
    /// The statement of the paper.
    pub claimed: f64,
    /// The correct value of that statement.
    pub found: f64,
    /// Whether it holds.
    pub holds: bool,
    /// Value of the correct statement.
    pub corrected: f64,
}

impl ErratumNumbers {
    /// A statement that something is at most `claimed`.
    pub(super) fn upper_bound_claim(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: found <= claimed, corrected }
    }

    /// A statement that something is at least `claimed`.
    pub(super) fn lower_bound_claim(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: found >= claimed, corrected }
    }

    /// A statement that two numbers are the same.
    pub(super) fn equality_claim(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: (found - claimed).abs() <= 1e-9 * claimed.abs(), corrected }
    }

    /// The claimed number divided by the found one: the factor by which a bound that holds is loose.
    pub fn looseness_factor(&self) -> f64 {
        self.claimed / self.found
    }

    /// A statement that Gaussian noise is (epsilon, delta)-private: the exact deltas of the published standard deviation and of
    /// the right one, both per unit of sensitivity.
    pub(super) fn gaussian_noise_claim(epsilon: f64, delta: f64, [published, right]: [f64; 2]) -> Self {
        Self::upper_bound_claim(delta, gaussian_delta(published, epsilon), gaussian_delta(right, epsilon))
    }
}

/// A statement tested with computed numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrataTask {
    /// The statement, by its name in the registry. An `[[erratum]]` of the spec describes it.
    #[schemars(with = "String", extend("enum" = Erratum::names()))]
    pub erratum: Erratum,
}

impl ErrataTask {
    /// The metrics: what the paper says, what is true of that very statement, whether it holds, the right number, and the
    /// first over the second.
    pub(super) const METRICS: [&str; 5] = ["claimed", "found", "holds", "corrected", "factor"];
}

impl TaskRequirements for ErrataTask {
    fn check(&self, setting: &Sections) -> CheckResult {
        setting.privacy.check_unprotected("inf (the numbers are computed without privacy)")?;
        cloaking_setting(&setting.privacy).map(drop)
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        Self::METRICS.map(str::to_owned).to_vec()
    }

    fn erratum_name(&self) -> Option<&str> {
        Some(self.erratum.name())
    }
}

/// The probability and the error (cm) of each configuration, in the order of the table: noise variances within a lengthscale,
/// variances within these.
const PRINTED: [(f64, f64); 80] = [
    (0.0, 235.52),
    (0.0, 436.54),
    (0.0, 526.11),
    (0.0, 715.99),
    (0.0, 132.11),
    (0.0, 244.78),
    (0.0, 305.81),
    (0.0, 430.29),
    (0.0, 73.59),
    (0.0, 162.8),
    (0.0, 219.82),
    (0.0, 283.01),
    (0.019, 25.61),
    (0.0, 60.73),
    (0.0, 215.35),
    (0.0, 248.26),
    (0.0, 75.13),
    (0.0, 94.6),
    (0.0, 128.16),
    (0.0, 233.28),
    (0.0, 52.59),
    (0.0, 80.72),
    (0.0, 95.11),
    (0.0, 167.44),
    (0.0131, 33.87),
    (0.0, 133.09),
    (0.0, 81.38),
    (0.0, 187.44),
    (0.0222, 18.27),
    (0.0122, 34.01),
    (0.0, 53.16),
    (0.0, 80.85),
    (0.0151, 25.04),
    (0.0, 32.92),
    (0.0, 60.83),
    (0.0, 43.17),
    (0.02, 23.92),
    (0.0181, 26.28),
    (0.0, 32.66),
    (0.0, 42.26),
    (0.0231, 16.36),
    (0.021, 20.89),
    (0.0177, 26.84),
    (0.0, 31.85),
    (0.0244, 14.55),
    (0.0233, 16.13),
    (0.0205, 20.81),
    (0.018, 27.74),
    (0.0233, 16.53),
    (0.0223, 18.02),
    (0.0219, 19.27),
    (0.0211, 20.9),
    (0.0236, 16.07),
    (0.0233, 16.29),
    (0.0222, 18.24),
    (0.0225, 18.78),
    (0.0226, 17.43),
    (0.0236, 16.0),
    (0.023, 16.72),
    (0.0228, 17.62),
    (0.0225, 18.1),
    (0.0227, 17.49),
    (0.0235, 16.06),
    (0.0232, 16.65),
    (0.023, 16.83),
    (0.0242, 14.72),
    (0.0232, 17.06),
    (0.0225, 17.75),
    (0.0224, 18.09),
    (0.0231, 16.9),
    (0.0242, 14.61),
    (0.0231, 16.59),
    (0.0224, 18.14),
    (0.0225, 18.02),
    (0.023, 16.83),
    (0.0241, 14.52),
    (0.0226, 17.71),
    (0.0223, 18.33),
    (0.0224, 17.88),
    (0.0231, 16.82),
];

/// The text calls 19.02 a weighted sum of errors: that sum, and the root of the weighted sum of their squares.
pub(super) fn weighted_sum() -> ErratumNumbers {
    let sum: f64 = PRINTED.iter().map(|(p, error)| p * error).sum();
    let squares: f64 = PRINTED.iter().map(|(p, error)| p * error * error).sum();
    ErratumNumbers { claimed: 19.02, found: sum, holds: (sum - 19.02).abs() < 0.005, corrected: squares.sqrt() }
}

/// The mean of the column, to the digits that are printed.
pub(super) fn mean_printed_error() -> ErratumNumbers {
    let mean = PRINTED.iter().map(|(_, error)| error).sum::<f64>() / PRINTED.len() as f64;
    ErratumNumbers { claimed: 87.05, found: mean, holds: (mean - 87.05).abs() < 0.005, corrected: mean }
}

/// The lowest error, which the text has as 14.55 in the training set.
pub(super) fn lowest_error() -> ErratumNumbers {
    let lowest = PRINTED.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    ErratumNumbers::equality_claim(14.55, lowest, lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of an independent computation on the printed rows.
    #[test]
    fn the_printed_rows_are_those_of_the_paper() {
        let sums = weighted_sum();
        assert!((sums.found - 18.61).abs() < 0.005 && (sums.corrected - 19.0226).abs() < 5e-5, "{sums:?}");
        assert!((mean_printed_error().found - 85.98).abs() < 0.005, "{:?}", mean_printed_error());
        assert_eq!(lowest_error().found, 14.52);
        // Probabilities are printed to four digits; 34 of them are zero.
        let total: f64 = PRINTED.iter().map(|(p, _)| p).sum();
        assert!((total - 1.0).abs() < 46.0 * 5e-5, "{total}");
        assert_eq!(PRINTED.iter().filter(|(p, _)| *p > 0.0).count(), 46);
    }
}

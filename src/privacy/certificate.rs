//! What a result row claims about privacy, and what is true of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::accounting::{AccountantKind, AccountingCaveat, Relation};
use super::{Calibration, gaussian_delta};

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

/// The mechanism that a guarantee is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Gaussian noise with a covariance shaped by cloaking.
    Cloaking(Calibration),
    /// Gaussian noise on a histogram.
    Histogram(Calibration),
    /// A sample of a Gaussian process, added to a function.
    Function(Calibration),
    /// The exponential mechanism, which satisfies pure differential privacy.
    Exponential,
    /// Clipped gradients with Gaussian noise, priced by an accountant.
    NoisyGradient(AccountantKind),
    /// Gaussian noise on the sums of a variational model.
    NoisySums(Calibration),
    /// The best of private candidates.
    PrivateSelection,
    /// Nothing hides the targets.
    None,
}

/// What a guarantee covers. The rows of a table average or describe many releases; the guarantee is that of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// The predictions for one fold's test inputs.
    FoldPredictions,
    /// The predictions on a grid.
    Predictions,
    /// The latent function of a classifier, and all predictions from it.
    LatentFunction,
    /// A histogram, and whatever is computed from it.
    Histogram,
    /// A function, at however many inputs.
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

/// A reason why the guarantee holds only in part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caveat {
    /// Rows were chosen by their private target.
    PrivateFilter,
    /// Targets were clipped, centred or scaled by statistics of the private targets.
    PrivateNormalisation,
    /// Epsilon lies outside the proof of the classic calibration.
    OutsideProof,
    /// The printed sensitivity is not a bound.
    InvalidSensitivity,
    /// Inputs were standardised by statistics of all private rows.
    PrivateStandardisation,
    /// What the accountant leaves out.
    Accounting(AccountingCaveat),
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accounting(caveat) => return caveat.fmt(f),
            Self::PrivateStandardisation => "inputs standardised by statistics of all private rows",
            Self::PrivateFilter => "rows chosen by the private target",
            Self::PrivateNormalisation => "targets normalised by private statistics",
            Self::OutsideProof => "epsilon > 1 is outside the proof of the classic calibration",
            Self::InvalidSensitivity => "the published sensitivity is not a bound",
        })
    }
}

/// The certificate of one release.
///
/// Obligation: for all neighbours, the release satisfies (`epsilon`, `delta_exact`)-differential
/// privacy, given what the caveats except. For the Gaussian mechanism `delta_exact` is the
/// hockey-stick divergence at `epsilon` of the noise actually used; a pure mechanism has zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// What is covered.
    pub release: Release,
    /// The neighbouring relation; `None` without privacy.
    pub neighbours: Option<Neighbours>,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The claimed epsilon; `None` without privacy.
    pub epsilon: Option<f64>,
    /// The claimed delta.
    pub delta: f64,
    /// The exact delta at the claimed epsilon; `None` where the sensitivity is no bound.
    pub delta_exact: Option<f64>,
    /// How far the noise is from the optimum: nats of `log det M`, or relative excess of the trace.
    pub gap: Option<f64>,
    /// What the guarantee leaves out.
    pub caveats: Vec<Caveat>,
}

impl Certificate {
    /// The certificate of Gaussian noise for a release whose sensitivity is `sensitivity` in the metric of the noise,
    /// where the calibration assumes 1.
    pub fn gaussian(
        (release, neighbours): (Release, Neighbours),
        calibration: Calibration,
        (epsilon, delta): (f64, f64),
        sensitivity: f64,
        gap: Option<f64>,
    ) -> Self {
        let sigma = calibration.sigma(epsilon, delta);
        let outside = !calibration.is_proven_for(epsilon);
        Self {
            release,
            neighbours: Some(neighbours),
            mechanism: Mechanism::Cloaking(calibration),
            epsilon: Some(epsilon),
            delta,
            delta_exact: Some(gaussian_delta(sigma / sensitivity, epsilon)),
            gap,
            caveats: if outside { vec![Caveat::OutsideProof] } else { Vec::new() },
        }
    }

    /// With a choice of pure differential privacy before the release: `total` is the epsilon of both, by basic
    /// composition, and `delta_exact` stays that of the release at its own epsilon.
    #[must_use]
    pub fn after_choice(mut self, total: f64) -> Self {
        self.epsilon = Some(total);
        self
    }

    /// The certificate of several steps with Gaussian noise, each calibrated to `(epsilon, delta)`: the claim is that of
    /// basic composition, `(steps epsilon, steps delta)`. The exact delta is that of one Gaussian mechanism with the
    /// noise over `sqrt(steps)`, which no adaptive sequence of such steps exceeds (Dong, Roth and Su 2022, Corollary 2).
    pub fn gaussian_steps(
        (release, neighbours): (Release, Neighbours),
        calibration: Calibration,
        (epsilon, delta): (f64, f64),
        steps: usize,
        sensitivity: f64,
        gap: Option<f64>,
    ) -> Self {
        let once = Self::gaussian((release, neighbours), calibration, (epsilon, delta), sensitivity, gap);
        let times = steps as f64;
        let sigma = calibration.sigma(epsilon, delta) / (sensitivity * times.sqrt());
        Self {
            epsilon: Some(epsilon * times),
            delta: delta * times,
            delta_exact: Some(gaussian_delta(sigma, epsilon * times)),
            ..once
        }
    }

    /// As the certificate of Gaussian noise by another mechanism than cloaking.
    #[must_use]
    pub fn by(mut self, mechanism: Mechanism) -> Self {
        self.mechanism = mechanism;
        self
    }

    /// The certificate of the exponential mechanism: `epsilon`-DP, if the sensitivity is a bound.
    pub fn exponential(neighbours: Neighbours, epsilon: f64, valid: bool, gap: Option<f64>) -> Self {
        Self {
            release: Release::SelectedIndex,
            neighbours: Some(neighbours),
            mechanism: Mechanism::Exponential,
            epsilon: Some(epsilon),
            delta: 0.0,
            delta_exact: valid.then_some(0.0),
            gap,
            caveats: if valid { Vec::new() } else { vec![Caveat::InvalidSensitivity] },
        }
    }

    /// The certificate of a training with noisy gradients; `delta_exact` is an upper bound on the true delta at
    /// `epsilon`, where one is proved.
    pub fn noisy_gradient(
        accountant: AccountantKind,
        relation: Relation,
        (epsilon, delta): (f64, f64),
        delta_exact: Option<f64>,
        caveats: Vec<Caveat>,
    ) -> Self {
        Self {
            release: Release::Posterior,
            neighbours: Some(Neighbours::OneRecord(relation)),
            mechanism: Mechanism::NoisyGradient(accountant),
            epsilon: Some(epsilon),
            delta,
            delta_exact,
            gap: None,
            caveats,
        }
    }

    /// The certificate of noisy sums: `excess` is the least known bound on their sensitivity over the one that noise is scaled by.
    pub fn noisy_sums(
        release: Release,
        calibration: Calibration,
        (epsilon, delta): (f64, f64),
        excess: f64,
    ) -> Self {
        let outside = !calibration.is_proven_for(epsilon);
        Self {
            release,
            neighbours: Some(Neighbours::OneRecord(Relation::ReplaceOne)),
            mechanism: Mechanism::NoisySums(calibration),
            epsilon: Some(epsilon),
            delta,
            delta_exact: Some(gaussian_delta(calibration.sigma(epsilon, delta) / excess, epsilon)),
            gap: None,
            caveats: if outside { vec![Caveat::OutsideProof] } else { Vec::new() },
        }
    }

    /// The certificate of a selection among private candidates; no delta smaller than the claimed one is proved.
    pub fn private_selection((epsilon, delta): (f64, f64)) -> Self {
        Self {
            release: Release::SelectedIndex,
            neighbours: Some(Neighbours::OneRecord(Relation::ReplaceOne)),
            mechanism: Mechanism::PrivateSelection,
            epsilon: Some(epsilon),
            delta,
            delta_exact: Some(delta),
            gap: None,
            caveats: Vec::new(),
        }
    }

    /// No noise, no guarantee.
    pub fn none() -> Self {
        Self {
            release: Release::FoldPredictions,
            neighbours: None,
            mechanism: Mechanism::None,
            epsilon: None,
            delta: 0.0,
            delta_exact: None,
            gap: None,
            caveats: Vec::new(),
        }
    }

    /// Whether every number in it is finite.
    pub fn is_finite(&self) -> bool {
        let change = match self.neighbours {
            Some(Neighbours::OneTargetChanges(by)) => Some(by),
            Some(Neighbours::OneRecord(_)) | None => None,
        };
        let numbers = [self.epsilon, Some(self.delta), self.delta_exact, self.gap, change];
        numbers.into_iter().flatten().all(f64::is_finite)
    }

    /// Takes over the larger exact delta and gap of another release of the same kind.
    pub fn absorb(&mut self, other: &Self) {
        let larger = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a.max(b));
        self.delta_exact = larger(self.delta_exact, other.delta_exact);
        self.gap = larger(self.gap, other.gap);
    }

    /// With those caveats that apply.
    pub fn with_caveats(mut self, caveats: &[(Caveat, bool)]) -> Self {
        self.caveats.extend(caveats.iter().filter(|(_, applies)| *applies).map(|(caveat, _)| *caveat));
        self
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let epsilon = self.epsilon.unwrap_or(f64::INFINITY);
        match self.mechanism {
            Mechanism::None => return f.write_str("none"),
            Mechanism::Cloaking(calibration) => {
                write!(f, "({epsilon:?}, {:?})-DP {}, ", self.delta, self.release)?;
                write!(f, "cloaking, {} calibration", calibration.name())?;
            }
            Mechanism::Histogram(calibration) | Mechanism::Function(calibration) => {
                let name = if matches!(self.mechanism, Mechanism::Histogram(_)) {
                    "noise on bins"
                } else {
                    "a sample of the process"
                };
                write!(f, "({epsilon:?}, {:?})-DP {}, ", self.delta, self.release)?;
                write!(f, "{name}, {} calibration", calibration.name())?;
            }
            Mechanism::NoisyGradient(accountant) => {
                write!(
                    f,
                    "({epsilon:?}, {:?})-DP {}, noisy gradients, {accountant}",
                    self.delta, self.release
                )?;
            }
            Mechanism::NoisySums(calibration) => {
                write!(f, "({epsilon:?}, {:?})-DP {}, ", self.delta, self.release)?;
                write!(f, "noisy sums, {} calibration", calibration.name())?;
            }
            Mechanism::PrivateSelection => {
                write!(f, "({epsilon:?}, {:?})-DP {}, private selection", self.delta, self.release)?;
            }
            Mechanism::Exponential => {
                write!(f, "({epsilon:?}, 0)-DP {}, exponential mechanism", self.release)?
            }
        }
        if let Some(neighbours) = self.neighbours {
            write!(f, ", {neighbours}")?;
        }
        for (i, caveat) in self.caveats.iter().enumerate() {
            write!(f, "{} {caveat}", if i == 0 { "; except:" } else { "," })?;
        }
        Ok(())
    }
}

//! The certificate of one release: the datasets that its guarantee compares, and what it covers.

mod mechanism;
mod unit;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{AccountantKind, AttackRisk, NeighbourRelation};

pub use mechanism::{CalibratedGaussianRelease, CertifiedMechanism, GuaranteeCaveat};
pub use unit::{Guarantee, PrivacyUnit};

/// The certificate of one release.
///
/// Obligation: for all neighbours, the release satisfies (`epsilon`, `delta_exact`)-differential
/// privacy, given what the caveats except. For the Gaussian mechanism `delta_exact` is the
/// hockey-stick divergence at `epsilon` of the noise actually used; a pure mechanism has zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// What is covered.
    pub release: ReleaseKind,
    /// The neighbouring relation; `None` without privacy.
    pub neighbours: Option<Neighbours>,
    /// Whose records neighbours differ in.
    #[serde(default, skip_serializing_if = "PrivacyUnit::is_record")]
    pub unit: PrivacyUnit,
    /// The mechanism.
    pub mechanism: CertifiedMechanism,
    /// The claim; `None` without privacy.
    #[serde(flatten)]
    pub guarantee: Option<Guarantee>,
    /// The exact delta at the claimed epsilon; `None` where the sensitivity is no bound.
    pub delta_exact: Option<f64>,
    /// How far the noise is from the optimum: nats of `log det M`, or relative excess of the trace.
    pub gap: Option<f64>,
    /// What the guarantee leaves out.
    pub caveats: Vec<GuaranteeCaveat>,
    /// What somebody else claims where nothing is guaranteed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<UncheckedClaim>,
}

/// A guarantee that somebody claims and nobody checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UncheckedClaim {
    /// What is claimed.
    pub guarantee: Guarantee,
    /// Who claims it.
    pub by: String,
}

impl Certificate {
    /// The risk of a Gaussian release with this certificate; none without a guarantee, or where it has exceptions.
    pub fn attack_risk(&self, mu: f64) -> Option<AttackRisk> {
        (self.guarantee.is_some() && self.caveats.is_empty()).then(|| AttackRisk::of_gaussian(mu))
    }

    /// Two neighbouring data sets, as [`AttackRisk::describe_risk`] names them.
    pub fn describe_attack_alternatives(&self) -> Option<String> {
        let person = matches!(self.unit, PrivacyUnit::Person { .. });
        let row = matches!(self.unit, PrivacyUnit::Row { .. });
        let unit = if person {
            "one person's rows"
        } else if row {
            "one row"
        } else {
            "one record"
        };
        Some(match (self.neighbours?, person) {
            (Neighbours::OneTargetChanges(change), false) => {
                format!("two values of one target, at most {change:?} apart,")
            }
            (Neighbours::OneTargetChanges(change), true) => {
                format!(
                    "two sets of values for one person's targets, with the two values of each target at most {change:?} apart,"
                )
            }
            (Neighbours::OneRecord(NeighbourRelation::ReplaceOne), _) => format!("two versions of {unit}"),
            (Neighbours::OneRecord(NeighbourRelation::AddRemove), _) => {
                format!("{unit} being in the data or not")
            }
        })
    }

    /// A claim of which nothing more is known.
    pub(super) fn new(
        release: ReleaseKind,
        neighbours: Neighbours,
        mechanism: CertifiedMechanism,
        guarantee: Guarantee,
    ) -> Self {
        Self {
            release,
            neighbours: Some(neighbours),
            unit: PrivacyUnit::Record,
            mechanism,
            guarantee: Some(guarantee),
            delta_exact: None,
            gap: None,
            caveats: Vec::new(),
            unchecked: None,
        }
    }

    /// The certificate of the exponential mechanism, `epsilon`-DP if `valid`: if the sensitivity is a bound.
    ///
    /// Obligation: where a utility moves by at most the sensitivity D, weights `exp(-epsilon u / (2 D))` move by a factor
    /// within `e^(-epsilon/2), e^(epsilon/2)` and so does their sum, so that each probability moves by at most `e^epsilon`.
    ///
    /// ```
    /// use dpgp_accounting::{Certificate, Guarantee, Neighbours};
    /// let chosen = Certificate::exponential(Neighbours::OneTargetChanges(1.0), 0.5, true);
    /// assert_eq!((chosen.guarantee, chosen.delta_exact), (Some(Guarantee::pure(0.5)), Some(0.0)));
    /// assert_eq!(Certificate::exponential(Neighbours::OneTargetChanges(1.0), 0.5, false).delta_exact, None);
    /// ```
    pub fn exponential(neighbours: Neighbours, epsilon: f64, valid: bool) -> Self {
        let claimed = Guarantee::pure(epsilon);
        let chosen = Self::new(ReleaseKind::SelectedIndex, neighbours, CertifiedMechanism::Exponential, claimed);
        Self { delta_exact: valid.then_some(0.0), ..chosen }
            .with_caveats(&[(GuaranteeCaveat::InvalidSensitivity, !valid)])
    }

    /// The certificate of Laplace noise of the scale `sensitivity / epsilon` on numbers of which neighbours move one, by at most the
    /// sensitivity.
    ///
    /// Obligation: the density `exp(-|x| / b) / (2 b)` moves by a factor of at most `e^(s / b)` when x moves by s, which is
    /// `e^epsilon` at `b = s / epsilon`. Source: Dwork and Roth 2014, Theorem 3.6.
    ///
    /// ```
    /// use dpgp_accounting::{Certificate, Guarantee, Neighbours, ReleaseKind};
    /// let noisy = Certificate::laplace(ReleaseKind::Histogram, Neighbours::OneTargetChanges(1.0), 0.5);
    /// assert_eq!((noisy.guarantee, noisy.delta_exact), (Some(Guarantee::pure(0.5)), Some(0.0)));
    /// ```
    pub fn laplace(release: ReleaseKind, neighbours: Neighbours, epsilon: f64) -> Self {
        let claimed = Guarantee::pure(epsilon);
        Self { delta_exact: Some(0.0), ..Self::new(release, neighbours, CertifiedMechanism::Laplace, claimed) }
    }

    /// The certificate of a training with noisy gradients; `delta_exact` is an upper bound on the true delta at
    /// `epsilon`, where one is proved.
    pub fn noisy_gradient(
        accountant: AccountantKind,
        relation: NeighbourRelation,
        guarantee: Guarantee,
        delta_exact: Option<f64>,
    ) -> Self {
        let (neighbours, mechanism) = (Neighbours::OneRecord(relation), CertifiedMechanism::NoisyGradient(accountant));
        Self { delta_exact, ..Self::new(ReleaseKind::Posterior, neighbours, mechanism, guarantee) }
    }

    /// The certificate of a selection among private candidates; no delta smaller than the claimed one is proved.
    pub fn private_selection(guarantee: Guarantee) -> Self {
        let neighbours = Neighbours::OneRecord(NeighbourRelation::ReplaceOne);
        let chosen = Self::new(ReleaseKind::SelectedIndex, neighbours, CertifiedMechanism::PrivateSelection, guarantee);
        Self { delta_exact: Some(guarantee.delta), ..chosen }
    }

    /// The same where the predictions are those at the test inputs of one fold.
    pub fn with_predictions_of_one_fold(mut self) -> Self {
        if self.release == ReleaseKind::Predictions {
            self.release = ReleaseKind::FoldPredictions;
        }
        self
    }

    /// No noise, no guarantee.
    pub fn none() -> Self {
        Self {
            release: ReleaseKind::FoldPredictions,
            neighbours: None,
            unit: PrivacyUnit::Record,
            mechanism: CertifiedMechanism::None,
            guarantee: None,
            delta_exact: None,
            gap: None,
            caveats: Vec::new(),
            unchecked: None,
        }
    }

    /// No guarantee, but what somebody else claims.
    ///
    /// ```
    /// use dpgp_accounting::{Certificate, Guarantee, UncheckedClaim};
    /// let claim = UncheckedClaim { guarantee: Guarantee::pure(1.0), by: "their package".to_owned() };
    /// let certificate = Certificate::unchecked(Some(claim));
    /// assert_eq!(certificate.to_string(), "none; their package claims (1.0, 0.0)-DP, unchecked");
    /// assert_eq!(certificate.epsilon(), f64::INFINITY);
    /// ```
    pub fn unchecked(claim: Option<UncheckedClaim>) -> Self {
        Self { unchecked: claim, ..Self::none() }
    }

    /// Adds a choice under pure differential privacy before the release: `total` is the epsilon of both, by basic composition.
    /// `delta_exact` stays that of the release at its own epsilon.
    #[must_use]
    pub fn with_total_epsilon(mut self, total: f64) -> Self {
        self.guarantee = self.guarantee.map(|claimed| Guarantee { epsilon: total, ..claimed });
        self
    }

    /// Sets the certified distance of the noise from the least possible noise.
    #[must_use]
    pub fn with_optimality_gap(self, gap: Option<f64>) -> Self {
        Self { gap, ..self }
    }

    /// Sets the unit in which neighbours differ. A certificate without a guarantee stays as it is.
    ///
    /// Obligation: the noise is scaled by [`PrivacyUnit::max_records`] times what it is for one record.
    #[must_use]
    pub fn with_privacy_unit(self, unit: PrivacyUnit) -> Self {
        if self.guarantee.is_some() { Self { unit, ..self } } else { self }
    }

    /// Which pairs of data sets it compares, in words; none without privacy.
    pub fn describe_neighbours(&self) -> Option<String> {
        self.neighbours.map(|neighbours| self.unit.describe_neighbours(neighbours))
    }

    /// Adds each caveat whose flag is true.
    #[must_use]
    pub fn with_caveats(mut self, caveats: &[(GuaranteeCaveat, bool)]) -> Self {
        self.caveats.extend(caveats.iter().filter(|(_, applies)| *applies).map(|(caveat, _)| *caveat));
        self
    }

    /// The least epsilon that is claimed: infinite without privacy, where every release is (infinity, 0)-private.
    pub fn epsilon(&self) -> f64 {
        self.guarantee.map_or(f64::INFINITY, |claimed| claimed.epsilon)
    }

    /// The claimed delta; `None` without privacy.
    pub fn delta(&self) -> Option<f64> {
        self.guarantee.map(|claimed| claimed.delta)
    }

    /// Whether every number in it is finite.
    pub fn is_finite(&self) -> bool {
        let change = match self.neighbours {
            Some(Neighbours::OneTargetChanges(by)) => Some(by),
            Some(Neighbours::OneRecord(_)) | None => None,
        };
        let claimed = self.guarantee.map(|claimed| [claimed.epsilon, claimed.delta]);
        let others = [self.delta_exact, self.gap, change].into_iter().flatten();
        claimed.into_iter().flatten().chain(others).all(f64::is_finite)
    }

    /// Takes over the larger exact delta and gap of another release of the same kind. Where one of the two is not known,
    /// neither is the larger.
    pub fn merge_larger_delta_and_gap(&mut self, other: &Self) {
        self.delta_exact = self.delta_exact.zip(other.delta_exact).map(|(a, b)| a.max(b));
        self.gap = self.gap.zip(other.gap).map(|(a, b)| a.max(b));
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Guarantee { epsilon, delta }) = self.guarantee else {
            return match &self.unchecked {
                None => f.write_str("none"),
                Some(UncheckedClaim { guarantee: Guarantee { epsilon, delta }, by }) => {
                    write!(f, "none; {by} claims ({epsilon:?}, {delta:?})-DP, unchecked")
                }
            };
        };
        match self.mechanism {
            CertifiedMechanism::Exponential => write!(f, "({epsilon:?}, 0)-DP {}, ", self.release)?,
            _ => write!(f, "({epsilon:?}, {delta:?})-DP {}, ", self.release)?,
        }
        self.mechanism.fmt(f)?;
        if let Some(between) = self.describe_neighbours() {
            write!(f, ", {between}")?;
        }
        for (i, caveat) in self.caveats.iter().enumerate() {
            write!(f, "{} {caveat}", if i == 0 { "; except:" } else { "," })?;
        }
        Ok(())
    }
}

/// Which pairs of data sets the guarantee compares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One target changes by at most this much (in the target's units); inputs are public.
    OneTargetChanges(f64),
    /// Inputs and target of one record: it is replaced, or added or removed.
    OneRecord(NeighbourRelation),
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneTargetChanges(by) => write!(f, "one target changes by <= {by:?}"),
            Self::OneRecord(NeighbourRelation::ReplaceOne) => f.write_str("one record is replaced"),
            Self::OneRecord(NeighbourRelation::AddRemove) => f.write_str("one record is added or removed"),
        }
    }
}

/// The release that a guarantee covers. The rows of a table average or describe many releases; the guarantee is that of
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseKind {
    /// The predictions for one fold's test inputs.
    FoldPredictions,
    /// The predictions on a grid.
    Predictions,
    /// The latent function of a classifier, and all predictions from it.
    LatentFunction,
    /// A histogram, and all that is computed from it.
    Histogram,
    /// The mean of the targets, and all that is computed from it.
    Mean,
    /// A function, at any number of inputs.
    Function,
    /// The index of the candidate selected; not its errors or probabilities.
    SelectedIndex,
    /// The fitted posterior, and every step on the way to it.
    Posterior,
}

impl fmt::Display for ReleaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FoldPredictions => "for the predictions of one fold",
            Self::LatentFunction => "for the latent function and all predictions from it",
            Self::Predictions => "for all predictions on the grid",
            Self::Histogram => "for the histogram and all computed from it",
            Self::Mean => "for the mean and all computed from it",
            Self::Function => "for the whole function",
            Self::Posterior => "for the fitted posterior",
            Self::SelectedIndex => "for the index selected, not for the numbers of this row",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pure guarantees have no delta.
    #[test]
    fn guarantees_are_said_with_their_numbers() {
        let neighbours = Neighbours::OneTargetChanges(1.0);
        let pure = Certificate::exponential(neighbours, 0.5, true).to_string();
        assert!(pure.starts_with("(0.5, 0)-DP "), "{pure}");
        let chosen = Certificate::private_selection(Guarantee { epsilon: 2.0, delta: 1e-6 }).to_string();
        assert!(chosen.starts_with("(2.0, 1e-6)-DP "), "{chosen}");
        assert_eq!(Certificate::none().to_string(), "none");
        let wrong = Certificate::exponential(neighbours, 0.5, false).to_string();
        assert!(wrong.contains("; except: "), "{wrong}");
    }

    /// No two releases are said to be about the same.
    #[test]
    fn every_release_says_what_it_covers() {
        let all = [
            ReleaseKind::FoldPredictions,
            ReleaseKind::LatentFunction,
            ReleaseKind::Predictions,
            ReleaseKind::Histogram,
            ReleaseKind::Mean,
            ReleaseKind::Function,
            ReleaseKind::SelectedIndex,
            ReleaseKind::Posterior,
        ];
        let mut said = all.map(|release| release.to_string());
        said.sort();
        assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{said:?}");
        assert!(said.iter().all(|words| words.starts_with("for the ") || words.starts_with("for all ")));
    }
}

//! One release, from its rows to the written file.
//!
//! The order is the same for predictions and for sums, for the command and for Python. Only this module defines it.
//!
//! | step | what happens | what it may depend on |
//! |---|---|---|
//! | refuse | errors that do not depend on data: the spec, an epsilon, a file that cannot be written | settings, files |
//! | read | rows, their identity, the fit and the size of the noise; refuse a guarantee that is too weak for the public number of rows | settings, public facts of the rows |
//! | charge | the ledger of the rows is charged, or refuses the release | the ledger |
//! | draw | the noise is drawn | the rows |
//! | write | the draw is written | the draw |
//!
//! The first two make a [`RequestedRelease`], and [`charge_draw_and_write`] does the rest. The types ensure that no noise is drawn before the
//! charge ([`UnchargedRelease`]). The proof that a refused release shows nothing private is there, too.

use super::draw::{ChargedRelease, DrawnRelease, JointGuarantee, ReleaseToCharge, UnchargedRelease, charge_together};
use super::ledger::{ChargeReceipt, LedgerOptions, find_conflicting_releases};
use super::{
    ExactSums, PlannedSumsRelease, PredictionRequest, PrivatePredictions, ReleaseError, ReleaseSpec, ReleasedSums,
    SumsReleaseMethod,
};
use serde_json::Value;

use dpgp_accounting::PrivacyBudget;
use dpgp_data::RowsFingerprint;
use dpgp_mechanisms::PrivacySetting;

/// Fields of a file that hold settings, not computed numbers.
const SETTINGS: [&str; 3] = ["model", "histogram", "rows"];

/// Values whose numbers are written.
pub trait ReleasedNumbers {
    /// Whether all of them are finite.
    fn are_finite(&self) -> bool;
}

impl ReleasedNumbers for PrivatePredictions<'_> {
    fn are_finite(&self) -> bool {
        let Self { points, predictions, .. } = self;
        let columns = [&predictions.mean, &predictions.gp_sd, &predictions.noise_sd];
        let mut ends = (0..points.nrows()).map(|row| predictions.central_95_interval(row));
        points.iter().all(|x| x.is_finite())
            && columns.into_iter().flatten().all(|x| x.is_finite())
            && ends.all(|(low, high)| low.is_finite() && high.is_finite())
    }
}

impl ReleasedNumbers for ReleasedSums {
    /// JSON has null for a number that is not finite.
    fn are_finite(&self) -> bool {
        let Value::Object(parts) = &self.value else { return false };
        parts.iter().all(|(name, part)| SETTINGS.contains(&name.as_str()) || has_no_null(part))
    }
}

fn has_no_null(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(parts) => parts.iter().all(has_no_null),
        Value::Object(parts) => parts.values().all(has_no_null),
        _ => true,
    }
}

/// Rows and the release that is requested of them.
pub trait RequestedRelease {
    /// The released value.
    type Value<'a>: ReleasedNumbers
    where
        Self: 'a;

    /// Makes the offer: the guarantee, and a way to draw the noise.
    ///
    /// # Errors
    /// [`ReleaseError`] for exceptions to the guarantee, unless they are allowed, or if the noise cannot be designed.
    fn design_release(&self, allow_exceptions: bool) -> Result<UnchargedRelease<'_, Self::Value<'_>>, ReleaseError>;

    /// The subject for the entry of a ledger.
    fn release_spec(&self) -> ReleaseSpec<'_>;

    /// The identity of the rows for ledgers. None if they were read without a key.
    fn row_fingerprint(&self) -> Option<&RowsFingerprint>;
}

/// The terms of a release.
pub struct ReleaseOptions<'a> {
    /// The place of ledgers. Without one the release is not counted, and its certificate says so.
    pub place: Option<&'a LedgerOptions>,
    /// Whether a guarantee may have exceptions.
    pub allow_exceptions: bool,
}

/// An error that may happen after a release was charged.
pub trait AfterChargeError: From<ReleaseError> {
    /// Adds the cost that was spent.
    #[must_use]
    fn with_charge_receipt(self, receipt: Option<&ChargeReceipt>) -> Self;
}

impl AfterChargeError for ReleaseError {
    fn with_charge_receipt(self, receipt: Option<&ChargeReceipt>) -> Self {
        self.mark_charged(receipt)
    }
}

/// Charges a release to the ledger of its rows, draws its noise and writes it.
///
/// `ready` is called once, after the design, which may take minutes, and before the charge: the last moment to stop at
/// no cost. `write` gets the drawn release, and its error states what was spent.
///
/// # Errors
/// [`ReleaseError`] where the release is refused, and nothing is spent; or what `ready` or `write` fails with.
pub fn charge_draw_and_write<'r, R: RequestedRelease, W, E: AfterChargeError>(
    release: &'r R,
    terms: &ReleaseOptions<'_>,
    ready: impl FnOnce() -> Result<(), E>,
    write: impl FnOnce(&DrawnRelease<R::Value<'r>>) -> Result<W, E>,
) -> Result<W, E> {
    let offer = release.design_release(terms.allow_exceptions)?;
    ready()?;
    let paid = offer.charge(terms.place, &release.release_spec(), release.row_fingerprint())?;
    let charged = paid.draw()?;
    write(&charged).map_err(|cause| cause.with_charge_receipt(charged.receipt()))
}

/// Charges several releases to the ledger of their rows at once, or none of them; then draws their noise and writes them, as
/// [`charge_draw_and_write`] does with one. `names` tells them apart in messages.
///
/// The squares of `mu` add up ([`dpgp_accounting::composed_mu`]), so all of them together keep the budget `total`. Exceptions to a
/// guarantee are never allowed, because the releases would then have no guarantee together.
///
/// # Errors
/// [`ReleaseError`] where a release is refused, and nothing is spent; or what `ready` or `write` fails with.
pub fn charge_draw_and_write_together<'r, R: RequestedRelease, W, E: AfterChargeError>(
    releases: &'r [R],
    names: &[&str],
    total: PrivacyBudget,
    place: Option<&LedgerOptions>,
    ready: impl FnOnce() -> Result<(), E>,
    write: impl FnOnce(&[DrawnRelease<R::Value<'r>>]) -> Result<W, E>,
) -> Result<W, E> {
    if names.len() != releases.len() {
        // Each check below is about a release and its name, and none may be left out.
        return Err(ReleaseError::NotTogether("each answer needs a name".to_owned()).into());
    }
    let mut offers = Vec::new();
    for release in releases {
        let offer = release.design_release(false)?;
        offers.push(ReleaseToCharge { offer, subject: release.release_spec(), rows: release.row_fingerprint() });
    }
    let joint = JointGuarantee::new(names, total, &offers)?;
    let entries = offers.iter().map(|offered| {
        let entry = offered.ledger_entry()?;
        Ok(offered.rows.map_or_else(|| entry.clone(), |rows| entry.with_column_digests(rows)))
    });
    let entries = entries.collect::<Result<Vec<_>, ReleaseError>>()?;
    if let Some((one, other, reason)) = find_conflicting_releases(&entries) {
        let [one, other] = [one, other].map(|place| names[place]);
        let problem = format!("{one} (the earlier release) and {other} (this one) have no joint guarantee: {reason}");
        return Err(ReleaseError::NotTogether(problem).into());
    }
    ready()?;
    let charged = charge_together(offers, place, Some(joint))?.into_iter().map(ChargedRelease::draw);
    let drawn = charged.collect::<Result<Vec<_>, _>>()?;
    write(&drawn).map_err(|cause| cause.with_charge_receipt(drawn.first().and_then(DrawnRelease::receipt)))
}

impl<'r> RequestedRelease for PredictionRequest<'r> {
    type Value<'a>
        = PrivatePredictions<'a>
    where
        'r: 'a;

    fn design_release(
        &self,
        allow_exceptions: bool,
    ) -> Result<UnchargedRelease<'_, PrivatePredictions<'_>>, ReleaseError> {
        self.design_release(allow_exceptions)
    }

    fn release_spec(&self) -> ReleaseSpec<'_> {
        self.release_spec()
    }

    fn row_fingerprint(&self) -> Option<&RowsFingerprint> {
        self.fingerprint()
    }
}

/// Sums over any number of rows, released for a guarantee.
pub struct SumsRequest<'a, M: SumsReleaseMethod> {
    /// The spec that they are of.
    pub streamed: &'a PlannedSumsRelease<'a, M>,
    /// The exact sums.
    pub total: &'a ExactSums<M>,
    /// The guarantee.
    pub privacy: &'a PrivacySetting,
    /// Whether the rows are identified. If not, they belong to no ledger.
    pub known: bool,
}

impl<'r, M: SumsReleaseMethod> RequestedRelease for SumsRequest<'r, M> {
    type Value<'a>
        = ReleasedSums
    where
        'r: 'a;

    fn design_release(&self, allow_exceptions: bool) -> Result<UnchargedRelease<'_, ReleasedSums>, ReleaseError> {
        self.streamed.design_release(self.total, self.privacy, allow_exceptions)
    }

    fn release_spec(&self) -> ReleaseSpec<'_> {
        self.streamed.release_spec(self.privacy)
    }

    fn row_fingerprint(&self) -> Option<&RowsFingerprint> {
        self.total.fingerprint().filter(|_| self.known)
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use serde_json::json;

    use super::*;
    use dpgp_run::{DataLocations, Project};
    use dpgp_task::Predictions;

    const SPEC: &str = r#"experiment.title = "a row"
data = { source.inline = { x = [0.0], y = [4.0] }, inputs = ["x"], target = "y" }
normalise.bounds = { low = 2.0, high = 12.0, scale = 10.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.prediction.grid = [{ from = 0.0, to = 1.0, points = 2 }]
privacy = { epsilon = 1.0, delta = 1e-6, change = 10.0, mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 } }
"#;

    fn finite(value: Value) -> bool {
        ReleasedSums { value }.are_finite()
    }

    fn sums(x: f64) -> Value {
        json!({ "rows": null, "model": { "noise_variance": null }, "sums": [{ "a": [1.0, x] }] })
    }

    #[test]
    fn every_number_counts() {
        assert!(finite(sums(2.0)));
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(!finite(sums(x)) && !finite(json!({ "sd": x })));
        }
    }

    /// Whether the numbers of one point are finite: its place, then prediction, model and noise.
    fn finite_at(place: f64, [mean, gp_sd, noise_sd]: [f64; 3]) -> bool {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("one", SPEC).unwrap();
        let predictions = Predictions {
            mean: vec![mean],
            gp_sd: vec![gp_sd],
            noise_sd: vec![noise_sd],
            least: None,
            combinations: None,
        };
        let points = DMatrix::from_element(1, 1, place);
        let setting = experiment.cells[0].setting();
        PrivatePredictions { setting, spec: "", changes: &[], points: &points, predictions }.are_finite()
    }

    #[test]
    fn every_number_of_a_point_counts() {
        assert!(finite_at(1.0, [1.0, 2.0, 3.0]));
        for x in [f64::INFINITY, f64::NAN] {
            assert!(!finite_at(x, [1.0, 2.0, 3.0]));
            for numbers in [[x, 2.0, 3.0], [1.0, x, 3.0], [1.0, 2.0, x]] {
                assert!(!finite_at(1.0, numbers), "{numbers:?}");
            }
        }
        // Each is finite, but one end of the interval is not.
        for mean in [f64::MAX, -f64::MAX] {
            assert!(!finite_at(1.0, [mean, 1e307, 1e307]), "{mean}");
        }
    }
}

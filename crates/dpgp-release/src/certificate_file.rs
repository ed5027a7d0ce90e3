//! The file of charged predictions, and its certificate.
//!
//! This holds the words of certificates, which `dpgp verify` compares again; the warnings about points far from all
//! rows and about long lengthscales; and the guarantee for a larger change of a target than the noise was set for.

use std::fmt;

use nalgebra::DMatrix;
use serde_json::{Map, Value, json};

use super::certificate_json::with_digest;
use super::combinations_file::target_combinations_digest;
use super::grid::outside_box_warning;
use super::prediction_files::{COLUMNS, PredictionRows};
use super::predictions::uninformative_points_warning;
use super::{DrawnRelease, PredictionFormat, PrivatePredictions, ReleaseError};
use dpgp_accounting::{Neighbours, PrivacyUnit, gaussian_epsilon_at_mu};
use dpgp_data::Digest;
use dpgp_gp::kernel::KernelSetting;
use dpgp_mechanisms::{MomentFeatures, MomentsSetting};
use dpgp_number::text::format_exact;
use dpgp_run::{PROGRAM, target_bounds};
use dpgp_spec::setting::{DataSetting, NormaliseSetting, SourceSetting};
use dpgp_task::{CellSetting, Predictions, TaskSetting};

impl DrawnRelease<PrivatePredictions<'_>> {
    /// The predictions.
    pub fn predictions(&self) -> &Predictions {
        &self.value().predictions
    }

    /// The inputs, the prediction, both standard deviations and the interval, a row for each point.
    ///
    /// # Errors
    /// [`csv::Error`] if the rows cannot be written.
    pub fn predictions_csv(&self) -> Result<String, csv::Error> {
        self.rows().csv()
    }

    /// The bytes of their file.
    ///
    /// # Errors
    /// [`ReleaseError`] if the rows cannot be written.
    pub fn predictions_bytes(&self, form: PredictionFormat) -> Result<Vec<u8>, ReleaseError> {
        self.rows().bytes(form)
    }

    /// The predictions as a list of records.
    pub fn predictions_json(&self) -> Value {
        self.rows().json()
    }

    fn rows(&self) -> PredictionRows<'_> {
        let PrivatePredictions { setting, points, predictions, .. } = self.value();
        PredictionRows { data: &setting.data, points, predictions }
    }

    /// The number of points.
    pub fn point_count(&self) -> usize {
        self.value().points.nrows()
    }

    /// Writes the certificate for the bytes of a file of predictions: the guarantee and its limits.
    ///
    /// Nothing in it depends on private targets. It has no digest of the data, which would let anyone check a guess,
    /// and no count of clipped targets.
    pub fn certificate_json(&self, predictions: &[u8]) -> Value {
        let certificate = self.certificate();
        let PrivatePredictions { setting, spec, changes, .. } = self.value();
        let inline = matches!(setting.data.source, SourceSetting::Inline(_));
        let caveats: Vec<String> = certificate.caveats.iter().map(ToString::to_string).collect();
        let mut file = json!({
            "guarantee": certificate.to_string(),
            "neighbours": certificate.describe_neighbours(),
            "epsilon": certificate.guarantee.map(|claimed| claimed.epsilon),
            "delta": certificate.delta(),
            "delta_exact": certificate.delta_exact,
            "mu": self.gdp_mu(),
            "risk": self.risk_json(),
            "noise": self.noise_json(),
            "caveats": caveats,
            "not_covered": self.guarantee_limits(),
            "release_id": self.release_id(),
            "all_releases": self.ledger_account_json(),
            "warnings": self.all_warnings(),
            "whole_width": self.whole_width_guarantee().map(WholeWidthGuarantee::json),
            "certificate": certificate,
            "columns": describe_columns(self.columns_meaning()),
            "intervals": setting.privacy.mechanism.downcast::<MomentsSetting>().map(|_| INTERVALS),
            "points": self.point_count(),
            "target": setting.data.target,
            "predictions_sha256": Digest::of_bytes(predictions).to_string(),
            "spec_sha256": (!inline).then(|| Digest::of_bytes(spec.as_bytes()).to_string()),
            "program": PROGRAM,
        });
        let combinations = self.value().predictions.combinations.as_deref();
        if let Some(digest) = combinations.and_then(target_combinations_digest) {
            file["combinations_sha256"] = json!(digest);
        }
        // Of a spec that was changed, its digest alone would say too little.
        if !changes.is_empty() {
            file["changes"] = json!(changes);
        }
        // Counts clip nothing that they release.
        if let Some((low, high)) = target_bounds(setting).filter(|_| !matches!(*setting.task, TaskSetting::Density(_)))
        {
            file["clipped_to"] = json!([low, high]);
        }
        if let Some(joint) = self.joint_guarantee_json() {
            file["together"] = joint;
        }
        with_digest(file)
    }

    /// The file of `--release`: the predictions, their certificate, and the combinations, from which predictions at other points follow.
    ///
    /// # Errors
    /// [`ReleaseError::Csv`] if the predictions cannot be written, or [`ReleaseError::NoCombinations`].
    pub fn release_file_json(&self) -> Result<Value, ReleaseError> {
        let PrivatePredictions { setting, predictions, .. } = self.value();
        let Some(combinations) = &predictions.combinations else {
            return Err(ReleaseError::NoCombinations);
        };
        let csv = self.predictions_csv()?;
        Ok(json!({
            "model": { "inputs": setting.data.inputs, "encode": setting.data.encode, "target": setting.data.target },
            "certificate": self.certificate_json(csv.as_bytes()),
            "predictions": csv,
            "combinations": combinations,
        }))
    }

    /// Warnings about the guarantee, about the design, and about points where the model knows nothing.
    pub fn all_warnings(&self) -> Vec<String> {
        let PrivatePredictions { setting, points, predictions, .. } = self.value();
        let (outside, long) = match setting.privacy.mechanism.downcast::<MomentsSetting>() {
            Some(moments) => {
                let model = setting.model.as_deref();
                let long = model.and_then(|model| long_lengthscale_warning(&model.kernel, moments, &setting.data));
                (outside_box_warning(moments, points), long)
            }
            None => (None, None),
        };
        let far = match self.hides_records() {
            true if matches!(*setting.task, TaskSetting::Density(_)) => None,
            true => uninformative_points_warning(predictions),
            // Their gp_sd follows from the release: a warning about it would differ from draw to draw.
            false if has_averaged_hyperparameters(setting) => None,
            false => distant_points_warning(self.value()),
        };
        self.warnings().into_iter().chain(outside).chain(long).chain(far).collect()
    }

    /// Limits of the guarantee.
    pub fn guarantee_limits(&self) -> Vec<String> {
        let mut list = self.data_assumed_public().into_iter().collect::<Vec<String>>();
        list.extend(ALWAYS_OPEN.map(str::to_owned));
        list.push(match self.value().setting.data.person.as_deref() {
            Some(column) => several_names_guarantee_limit(column),
            None => SEVERAL_ROWS.to_owned(),
        });
        list.extend(self.larger_change_limit());
        if self.account().is_none() {
            list.push(NOT_COUNTED.to_owned());
        }
        list
    }

    /// What the columns mean.
    fn columns_meaning(&self) -> ColumnsMeaning {
        match *self.value().setting.task {
            TaskSetting::Density(_) => ColumnsMeaning::Counts,
            _ if self.hides_records() || has_averaged_hyperparameters(self.value().setting) => {
                ColumnsMeaning::FromNoisySums
            }
            _ => ColumnsMeaning::NoisyPredictions,
        }
    }

    /// Whether inputs and target of a record are private. Then all numbers follow from noisy sums.
    fn hides_records(&self) -> bool {
        matches!(self.certificate().neighbours, Some(Neighbours::OneRecord(_)))
    }

    /// The data that the guarantee assumes to be public. Nothing if whole records of persons are private: not even
    /// their number.
    fn data_assumed_public(&self) -> Option<String> {
        let data = &self.value().setting.data;
        if self.value().setting.privacy.mechanism.mechanism().hides_number_of_rows() {
            return None;
        }
        if self.hides_records() {
            return data.person.is_none().then(|| ROWS_PUBLIC[usize::from(data.drops_missing())].to_owned());
        }
        let inputs = data.inputs.join(", ");
        let end = public_inputs_limit_ending(data.person.as_deref(), data.drops_missing());
        Some(format!("{INPUTS_PUBLIC}{inputs}{end}"))
    }

    /// A change of a target larger than the protected one, if the bounds allow one.
    fn larger_change_limit(&self) -> Option<String> {
        let Some(Neighbours::OneTargetChanges(change)) = self.certificate().neighbours else { return None };
        let normalise = &self.value().setting.normalise;
        let width = match normalise.target_width() {
            Some(_) => normalise.target_width_if_above(change)?,
            None => f64::INFINITY,
        };
        Some(larger_change_text(change, width))
    }

    /// The guarantee for a change of a target by the whole width of the bounds, if the protected change is smaller.
    pub fn whole_width_guarantee(&self) -> Option<WholeWidthGuarantee> {
        let Some(Neighbours::OneTargetChanges(change)) = self.certificate().neighbours else { return None };
        let width = self.value().setting.normalise.target_width_if_above(change)?;
        Some(WholeWidthGuarantee::new(width, change, self.gdp_mu(), self.certificate().delta()?))
    }
}

/// Above this share of the prior's standard deviation, the rows explain less than a tenth of the prior variance.
const FAR: f64 = 0.95;

/// Warns about points so far from public inputs, in lengthscales, that predictions are those of the prior. The warning
/// is public, as `gp_sd` is. For a sum of functions, one term may be unknown while the others are known. So the largest
/// variance of a term counts.
pub(super) fn distant_points_warning(release: &PrivatePredictions<'_>) -> Option<String> {
    let NormaliseSetting::Bounds { scale, .. } = *release.setting.normalise else { return None };
    let kernel = &release.setting.model.as_deref()?.kernel;
    let prior = match kernel {
        KernelSetting::Additive(sum) => vec![sum.largest_term_variance(); release.points.nrows()],
        kernel => kernel.build_kernel(release.points).diagonal(release.points),
    };
    let known = release.predictions.gp_sd.iter().zip(prior);
    let far = known.filter(|(sd, variance)| **sd > FAR * scale.get() * variance.sqrt()).count();
    let all = release.points.nrows();
    (far > 0).then(|| {
        format!(
            "at {far} of {all} points, gp_sd is nearly the prior standard deviation (of the function or, for a sum, \
             of one of its terms). The rows are many lengthscales away from these points, or the release carries \
             little information about the rows. Predictions there fall back to the prior mean"
        )
    })
}

/// Warn if the correlation between both ends of the box is at least this. An exponentiated quadratic with the side as its lengthscale has
/// 0.61.
const HARDLY: f64 = 0.7;

/// Warns about inputs along which the kernel makes the function nearly equal at both ends of the public box. Intervals
/// assume this even if the rows contradict it. Sums of functions get no warning.
pub(super) fn long_lengthscale_warning(
    kernel: &KernelSetting,
    moments: &MomentsSetting,
    data: &DataSetting,
) -> Option<String> {
    // Cells take lengthscales from the release.
    if matches!(kernel, KernelSetting::Additive(_)) || moments.features == MomentFeatures::Cells {
        return None;
    }
    let least: Vec<f64> = moments.domain.iter().map(|[low, _]| *low).collect();
    let covariance = kernel.build_kernel(&DMatrix::from_row_slice(1, least.len(), &least));
    let variance = covariance.value(&least, &least);
    let mut long = Vec::new();
    for (input, [_, high]) in moments.domain.iter().enumerate() {
        let mut end = least.clone();
        end[input] = *high;
        if covariance.value(&least, &end) > HARDLY * variance {
            long.push(format!("{:?}", data.inputs[input]));
        }
    }
    (!long.is_empty()).then(|| {
        format!(
            "with these lengthscales, the function hardly changes over the box along {}: if it does vary \
             there, far more points than stated lie outside their intervals",
            long.join(", ")
        )
    })
}

/// What the columns of a file of predictions mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnsMeaning {
    /// The predictions have noise, and the other columns are public.
    NoisyPredictions,
    /// All columns follow from noisy numbers.
    FromNoisySums,
    /// Estimates of counts.
    Counts,
}

/// Descriptions of the columns, by their meaning.
const ABOUT: [[&str; 5]; 3] = [
    [
        "the prediction, with noise",
        "standard deviation of the function under the model; public: it depends only on inputs and settings",
        "standard deviation of the privacy noise on private_mean; public",
        INTERVAL,
        "upper end of that interval",
    ],
    [
        "the prediction from the noisy sums; if persons are protected, it is about at most rows_per_person rows of each",
        "standard deviation of the function under the model, from the noisy sums",
        "standard deviation that the privacy noise adds to the posterior (in quadrature), from the noisy sums",
        INTERVAL,
        "upper end of that interval",
    ],
    [
        "the estimate of the exact count, from the noisy counts; if persons are protected, at most rows_per_person rows of \
         each are counted",
        "standard deviation of the exact count under the model, without the part that comes from the noise",
        "standard deviation that the privacy noise adds to it (in quadrature), from the noisy counts",
        "lower end of the 95 % interval of the exact count: private_mean - 1.96 sqrt(gp_sd^2 + noise_sd^2), not \
         below zero",
        "upper end of that interval",
    ],
];

const INTERVAL: &str =
    "lower end of the central 95 % interval of the function: private_mean - 1.96 sqrt(gp_sd^2 + noise_sd^2)";

/// Describes the columns of a file of predictions.
pub(super) fn describe_columns(meaning: ColumnsMeaning) -> Value {
    let about = ABOUT[meaning as usize];
    let columns = COLUMNS.iter().zip(about).map(|(name, about)| ((*name).to_owned(), Value::from(about)));
    Value::Object(columns.collect::<Map<String, Value>>())
}

/// Whether the release weighs the hyperparameters, so that standard deviations follow from it, too.
pub(super) fn has_averaged_hyperparameters(setting: &CellSetting) -> bool {
    setting.model.as_deref().is_some_and(|model| model.averaged)
}

/// Limits of every certificate of predictions.
pub(super) const ALWAYS_OPEN: [&str; 3] = [
    "the hyperparameters, the bounds and all other settings of the spec, which are assumed to be public: if \
     you chose them by looking at private data, they reveal something about it",
    "the points of the grid, which are assumed to be public",
    "time, memory and other side channels of the computation",
];

/// Public data with private records: without and with rows that are dropped for missing cells.
pub(super) const ROWS_PUBLIC: [&str; 2] = [
    "the number of rows of the file, which is assumed to be public: neighbours replace one record with \
     another, which filters may keep or drop",
    "the number of rows of the file, which is assumed to be public: neighbours replace one record with \
     another, which may be kept, or dropped by filters or for missing cells",
];

/// Start and end of the list of public data with public inputs.
pub(super) const INPUTS_PUBLIC: &str = "the inputs (";
const FILTERS_PUBLIC: &str = " and the columns that rows are filtered by, which are assumed to be public";

/// The end of that list, behind the names of the inputs.
pub(super) fn public_inputs_limit_ending(person: Option<&str>, drops_missing: bool) -> String {
    let person = person.map(|person| format!(", the person of each row ({person})"));
    let dropped = if drops_missing { ", the set of rows dropped because they lack an input," } else { "" };
    format!("), the number of rows{}{dropped}{FILTERS_PUBLIC}", person.unwrap_or_default())
}

/// The limit for a change of a target larger than the protected one.
pub(super) fn larger_change_text(change: f64, width: f64) -> String {
    format!(
        "a change of a target by more than {} (privacy.change), although targets may differ by {}",
        format_exact(change),
        format_exact(width)
    )
}

/// The limit of a guarantee about one row: persons with several rows.
pub(super) const SEVERAL_ROWS: &str = "several rows of one person together: the guarantee is about one row \
                                       (to protect persons, set `data.person` in the spec to the column that \
                                       identifies them)";

/// The limit of a column of persons: persons with several names.
pub(super) fn several_names_guarantee_limit(column: &str) -> String {
    format!("a person with several names in the column {column:?}: each name is protected as a separate person")
}

/// The limit of a release that no ledger counts: other releases.
pub(super) const NOT_COUNTED: &str = "other releases about the same data: this one was made without a ledger \
                                      (--no-ledger), so nothing adds up their privacy losses";

/// Limits of the guarantee of released sums.
pub(super) fn sums_guarantee_limits(unit: &PrivacyUnit, counted: bool) -> Vec<String> {
    let mut list = vec![match unit {
        PrivacyUnit::Person { column, .. } => several_names_guarantee_limit(column),
        _ => SEVERAL_ROWS.to_owned(),
    }];
    if !counted {
        list.push(NOT_COUNTED.to_owned());
    }
    list
}

/// The limit of intervals from few sums.
pub(super) const INTERVALS: &str = "Intervals rely on the kernel and on the released sums. The release \
                                    cannot show whether the function varies faster than these sums can \
                                    resolve. If it does, more points than stated lie outside their intervals";

/// The guarantee for a change by the whole width of the bounds.
///
/// Obligation: the exact delta at `epsilon` is at most `delta`. *Proof.* Before its noise, the release is linear in the
/// clipped targets. So a change of one target by `width` moves it at most `width / change` times as far as a change by
/// `change`, and `mu` grows by the same factor. The exact delta follows from that `mu` (Balle and Wang 2018, Theorem
/// 8).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WholeWidthGuarantee {
    /// The change, in units of the target.
    pub change: f64,
    /// The sensitivity to this change divided by the standard deviation of the noise.
    pub mu: f64,
    /// The guaranteed epsilon.
    pub epsilon: f64,
    /// The delta, which is that of the release.
    pub delta: f64,
}

impl WholeWidthGuarantee {
    /// Scales the guarantee of a release with this `mu` for a change by `change`.
    pub(super) fn new(width: f64, change: f64, mu: f64, delta: f64) -> Self {
        let mu = mu * (width / change);
        Self { change: width, mu, epsilon: gaussian_epsilon_at_mu(mu, delta), delta }
    }

    pub(super) fn json(self) -> Value {
        json!({ "change": self.change, "mu": self.mu, "epsilon": self.epsilon, "delta": self.delta })
    }
}

impl fmt::Display for WholeWidthGuarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, epsilon, delta, .. } = self;
        write!(f, "for a change by {change:?}, the whole width of the bounds: ({epsilon:.4}, {delta:?})-DP")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::two_rows::{TWO_ROWS, with_request};

    /// The certificate of a release of this spec, which no ledger counts.
    fn certificate(spec: &str) -> Value {
        with_request(spec, |request| {
            let charged = request
                .design_release(false)
                .unwrap()
                .charge(None, &request.release_spec(), None)
                .unwrap()
                .draw()
                .unwrap();
            charged.certificate_json(b"1,2,3")
        })
    }

    /// Its limits about changes that are not protected.
    fn told(certificate: &Value) -> Vec<&str> {
        let list = certificate["not_covered"].as_array().unwrap().iter();
        list.filter_map(Value::as_str).filter(|text| text.contains("privacy.change")).collect()
    }

    #[test]
    fn a_certificate_says_how_many_points_and_what_is_not_covered() {
        let narrow = certificate(TWO_ROWS);
        assert_eq!(narrow["points"], 3);
        let expected = "a change of a target by more than 3 (privacy.change), although targets may differ by 10";
        assert_eq!(told(&narrow), [expected]);
        let whole = certificate(&TWO_ROWS.replace("change = 3.0", "change = 10.0"));
        assert!(told(&whole).is_empty() && whole["whole_width"].is_null() && !narrow["whole_width"].is_null());
    }
}

#[cfg(test)]
mod long_lengthscales_tests {
    use super::*;
    use dpgp_run::{DataLocations, Project};

    const SPEC: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x", "y"], target = "z" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 1.0, kernel.eq-ard = { variance = 4.0, lengthscales = [1.5, LONG] } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 5.0, domain = [[0.0, 4.0], [2.0, 6.0]] } }
"#;

    /// At a distance of 4 and a lengthscale of 5 the correlation is `exp(-.32) = .73`, of 4.5 `exp(-.395) = .67`.
    #[test]
    fn a_lengthscale_beyond_the_box_is_named() {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        for (lengthscale, named) in [("5.0", true), ("4.5", false)] {
            let experiment = project.parse("moments", &SPEC.replace("LONG", lengthscale)).unwrap();
            let setting = experiment.cells[0].setting();
            let moments = setting.privacy.mechanism.downcast::<MomentsSetting>().unwrap();
            let kernel = &setting.model.as_deref().unwrap().kernel;
            let said = long_lengthscale_warning(kernel, moments, &setting.data);
            assert_eq!(said.is_some_and(|said| said.contains("along \"y\":")), named, "{lengthscale}");
        }
    }
}

//! The outcome of one replicate of one cell: named metrics and the data of a figure.

use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::{AuditedMechanism, ReplicateJob, TaskError};
use dpgp_accounting::{Certificate, GuaranteeCaveat, UncheckedClaim};

/// One metric of one cell in one replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricMeasurement {
    /// The metric.
    pub metric: String,
    /// Its values, one a fold; a single one where it is exact. One that is undefined is NaN.
    #[serde(deserialize_with = "deserialize_null_as_nan")]
    pub values: Vec<f64>,
    /// Why some of them are undefined; none if all are numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Guarantee of the release behind it.
    pub certificate: Certificate,
    /// The largest jitter that a factorisation needed; zero if none did.
    pub jitter: f64,
}

/// JSON has no NaN: it is written as null.
fn deserialize_null_as_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

impl MetricMeasurement {
    fn is_finite_or_explained(&self) -> bool {
        self.values.iter().all(|value| value.is_finite() || (value.is_nan() && self.undefined.is_some()))
            && self.certificate.is_finite()
    }
}

/// Result of one replicate of one cell. It can only be made from an auditable certificate.
#[derive(Debug, Clone)]
pub struct CellMeasurements {
    /// Its metrics, which share one certificate.
    pub metrics: Vec<MetricMeasurement>,
    /// Data of its figure beyond them.
    pub frames: Vec<FigureTable>,
    audited: Vec<AuditedMechanism>,
}

impl CellMeasurements {
    /// What an audit tests the certificate with; never empty where an audited job claims privacy.
    pub fn audited_mechanisms(&self) -> &[AuditedMechanism] {
        &self.audited
    }

    /// With what the figure shows.
    #[must_use]
    pub(super) fn with_frames(self, frames: Vec<FigureTable>) -> Self {
        Self { frames, ..self }
    }

    /// With the reason why a metric may have no value, said where one is NaN.
    #[must_use]
    pub(super) fn explain_nan_metric(mut self, metric: &str, reason: &str) -> Self {
        for one in self.metrics.iter_mut().filter(|one| one.metric == metric) {
            if one.values.iter().any(|value| value.is_nan()) {
                one.undefined = Some(reason.to_owned());
            }
        }
        self
    }

    /// What is kept of a replicate: finite numbers of named metrics, and the frames of the first replicate.
    ///
    /// # Errors
    /// [`TaskError::UnknownMetric`], [`TaskError::NotFinite`].
    pub fn validate_and_trim_frames(mut self, names: &[String], replicate: u32) -> Result<Self, TaskError> {
        self.ensure_known_metrics(names)?;
        self.ensure_finite()?;
        if replicate != 0 {
            self.frames.clear();
        }
        Ok(self)
    }

    /// # Errors
    /// [`TaskError::UnknownMetric`] with the first metric that the task does not name.
    pub(super) fn ensure_known_metrics(&self, names: &[String]) -> Result<(), TaskError> {
        match self.metrics.iter().find(|one| !names.contains(&one.metric)) {
            Some(one) => Err(TaskError::UnknownMetric { metric: one.metric.clone() }),
            None => Ok(()),
        }
    }

    /// # Errors
    /// [`TaskError::NotFinite`] with the first metric or frame that holds a number which is not finite.
    pub(super) fn ensure_finite(&self) -> Result<(), TaskError> {
        let metrics =
            self.metrics.iter().filter(|metric| !metric.is_finite_or_explained()).map(|metric| &metric.metric);
        let frames = self.frames.iter().filter(|frame| !frame.is_finite()).map(|frame| &frame.name);
        match metrics.chain(frames).next() {
            Some(metric) => Err(TaskError::NotFinite { metric: metric.clone() }),
            None => Ok(()),
        }
    }
}

/// Guarantee about one cell, with the samples drawn for it.
///
/// Obligation: a [`CellMeasurements`] claims privacy only through this type, and a claim carries the mechanism that it is about: an audit judges exactly
/// what the certificate is about.
#[derive(Debug, Clone)]
pub struct AuditableCertificate {
    certificate: Certificate,
    /// Kept for an audit alone: the matrices of all cells of a block would stay in memory.
    audited: Vec<AuditedMechanism>,
}

impl ReplicateJob<'_> {
    /// A claim about what was sampled, which is built only if the job is audited. Without a claim there is nothing to show.
    ///
    /// # Errors
    /// [`TaskError::NothingToAudit`] if there is nothing to judge the claim by.
    pub fn auditable_certificate(
        &self,
        certificate: Certificate,
        sampled: impl FnOnce() -> Vec<AuditedMechanism>,
    ) -> Result<AuditableCertificate, TaskError> {
        if certificate.guarantee.is_none() {
            return Ok(AuditableCertificate::without_claim());
        }
        let audited = if self.audited { sampled() } else { Vec::new() };
        if self.audited && (audited.is_empty() || audited.iter().any(AuditedMechanism::has_place_without_release)) {
            return Err(TaskError::NothingToAudit);
        }
        Ok(AuditableCertificate { certificate, audited })
    }
}

impl AuditableCertificate {
    /// No noise, and no claim.
    pub fn without_claim() -> Self {
        Self { certificate: Certificate::none(), audited: Vec::new() }
    }

    /// No guarantee, but what somebody else claims.
    pub fn from_unchecked_claim(claim: Option<UncheckedClaim>) -> Self {
        Self { certificate: Certificate::unchecked(claim), audited: Vec::new() }
    }

    /// Together with another release of the same kind: the worse of both.
    #[must_use]
    pub fn combine_worst(mut self, other: Self) -> Self {
        self.certificate.merge_larger_delta_and_gap(&other.certificate);
        self.audited.extend(other.audited);
        self
    }

    /// With those caveats that apply to a claim.
    #[must_use]
    pub fn with_caveats(self, caveats: &[(GuaranteeCaveat, bool)]) -> Self {
        match self.certificate.guarantee {
            None => self,
            Some(_) => Self { certificate: self.certificate.with_caveats(caveats), ..self },
        }
    }

    /// Metrics with one value each, and the largest jitter of a factorisation behind them.
    pub fn into_measurements<Name: Into<String>>(
        self,
        jitter: f64,
        metrics: impl IntoIterator<Item = (Name, f64)>,
    ) -> CellMeasurements {
        self.into_repeated_measurements(jitter, metrics.into_iter().map(|(name, value)| (name, vec![value])))
    }

    /// Metrics with several values each: one a fold, or one a draw of the noise.
    pub fn into_repeated_measurements<Name: Into<String>>(
        self,
        jitter: f64,
        metrics: impl IntoIterator<Item = (Name, Vec<f64>)>,
    ) -> CellMeasurements {
        let Self { certificate, audited } = self;
        let metrics = metrics.into_iter().map(|(name, values)| MetricMeasurement {
            metric: name.into(),
            values,
            undefined: None,
            certificate: certificate.clone(),
            jitter,
        });
        CellMeasurements { metrics: metrics.collect(), frames: Vec::new(), audited }
    }
}

/// A frame has no column of this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the frame `{frame}` has no column `{column}`; its columns are {}", columns.join(", "))]
pub struct MissingColumnError {
    /// The name of the frame.
    pub frame: String,
    /// The column that was asked for.
    pub column: String,
    /// The columns that there are.
    pub columns: Vec<String>,
}

/// A table of numbers that a cell hands to its figure: a curve, a map, the data behind them. The columns are of one
/// length. Frames are of the first replicate alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureTable {
    /// Its kind, as the figure knows it.
    pub name: String,
    /// The columns: name and numbers, all finite.
    pub columns: Vec<(String, Vec<f64>)>,
}

impl FigureTable {
    /// A frame without columns.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), columns: Vec::new() }
    }

    /// With one more column.
    #[must_use]
    pub fn with_column(mut self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        self.columns.push((name.into(), values.into_iter().collect()));
        self
    }

    /// With a column for each dimension of some points (rows of a matrix): x1, x2, ...
    #[must_use]
    pub fn with_points(self, points: &nalgebra::DMatrix<f64>) -> Self {
        let columns = points.column_iter().enumerate();
        columns.fold(self, |frame, (d, column)| frame.with_column(format!("x{}", d + 1), column.iter().copied()))
    }

    /// A column by name.
    ///
    /// # Errors
    /// [`MissingColumnError`] if there is none.
    pub fn column(&self, name: &str) -> Result<&[f64], MissingColumnError> {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found.map(|(_, values)| values.as_slice()).ok_or_else(|| MissingColumnError {
            frame: self.name.clone(),
            column: name.to_owned(),
            columns: self.columns.iter().map(|(column, _)| column.clone()).collect(),
        })
    }

    /// The columns of this name and a number, in order.
    pub fn numbered_columns<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [f64]> {
        let numbered = self.columns.iter().filter(move |(column, _)| {
            let number = column.strip_prefix(name).unwrap_or_default();
            !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
        });
        numbered.map(|(_, values)| values.as_slice())
    }

    pub(super) fn is_finite(&self) -> bool {
        self.columns.iter().flat_map(|(_, values)| values).all(|v| v.is_finite())
    }
}

/// A metric: its name in tables, specs and printed numbers, and its value, given what a task has computed.
///
/// A task has one list of them, which gives the names that its spec may ask for and the values that its results hold.
pub(super) struct Metric<M> {
    /// Its name: lower case, words joined by `-`.
    pub name: &'static str,
    /// Its value; NaN where it has none.
    pub value: fn(&M) -> f64,
    /// Why it may have none.
    pub undefined: Option<&'static str>,
}

impl<M> Metric<M> {
    /// A metric that always has a value.
    pub const fn new(name: &'static str, value: fn(&M) -> f64) -> Self {
        Self { name, value, undefined: None }
    }

    /// A metric that has none, for a reason, where its value is NaN.
    pub const fn with_undefined_reason(name: &'static str, value: fn(&M) -> f64, why: &'static str) -> Self {
        Self { name, value, undefined: Some(why) }
    }
}

/// The names of a list.
pub(super) fn metric_names<M>(metrics: &[Metric<M>]) -> Vec<String> {
    metrics.iter().map(|metric| metric.name.to_owned()).collect()
}

impl AuditableCertificate {
    /// Evaluates each metric on `computed`. `jitter` is the largest jitter of a factorisation behind them.
    pub(super) fn evaluate_metrics<M>(self, jitter: f64, metrics: &[Metric<M>], computed: &M) -> CellMeasurements {
        self.evaluate_repeated_metrics(jitter, metrics, std::slice::from_ref(computed))
    }

    /// Evaluates each metric on each of several results, one for each fold or each draw of the noise.
    pub(super) fn evaluate_repeated_metrics<M>(
        self,
        jitter: f64,
        metrics: &[Metric<M>],
        computed: &[M],
    ) -> CellMeasurements {
        let values = metrics.iter().map(|metric| computed.iter().map(metric.value).collect());
        self.into_metric_measurements(jitter, metrics, values)
    }

    /// Makes measurements of the metrics from values that were computed beforehand, in the order of the list.
    pub(super) fn into_metric_measurements<M>(
        self,
        jitter: f64,
        metrics: &[Metric<M>],
        values: impl IntoIterator<Item = Vec<f64>>,
    ) -> CellMeasurements {
        let measured = self.into_repeated_measurements(jitter, metrics.iter().map(|metric| metric.name).zip(values));
        metrics.iter().fold(measured, |measured, metric| match metric.undefined {
            Some(why) => measured.explain_nan_metric(metric.name, why),
            None => measured,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, RandomStreams, RunCache, Sample};
    use dpgp_accounting::{Guarantee, NeighbourRelation};
    use dpgp_data::DatasetManifest;
    use dpgp_mechanisms::LinearReleaseMatrices;
    use nalgebra::DMatrix;

    const SPEC: &str = r#"experiment.title = "a claim"
data = { source.inline = { x = [0, 1, 2], y = [0, 1, 0] }, inputs = ["x"], target = "y" }
model = { noise_variance = 1.0, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.regression = { split.contiguous = 3, draws = 1 }
privacy = { epsilon = 1.0, delta = 0.01, change = 1.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
"#;

    fn certify(
        audited: bool,
        certificate: Certificate,
        sampled: Vec<AuditedMechanism>,
    ) -> Result<AuditableCertificate, TaskError> {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let setting = spec.cells[0].setting();
        let streams = RandomStreams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let (sample, known) = (Sample::new(&[], Vec::new()), RunCache::default());
        let (sample, streams, known) = (&sample, &streams, &known);
        ReplicateJob { setting, cells: &[], sample, streams, known, audited }
            .auditable_certificate(certificate, || sampled)
    }

    /// Also a sequence of releases that lacks one of them cannot be audited: the missing one may tell everything.
    #[test]
    fn an_audited_claim_without_mechanism_is_refused() {
        let claim = || Certificate::private_selection(Guarantee { epsilon: 1.0, delta: 0.01 });
        let release = LinearReleaseMatrices { columns: DMatrix::identity(1, 1), factor: DMatrix::identity(1, 1) };
        let linear = |places| vec![AuditedMechanism::Linear { places, scale: 1.0, change: 1.0 }];
        let holed = linear(vec![vec![release.clone()], Vec::new()]);
        for nothing in [Vec::new(), linear(Vec::new()), holed] {
            assert!(certify(false, claim(), nothing.clone()).is_ok());
            assert_eq!(certify(true, claim(), nothing.clone()).unwrap_err(), TaskError::NothingToAudit);
            assert!(certify(true, Certificate::none(), nothing).is_ok());
        }
        let whole = certify(true, claim(), linear(vec![vec![release.clone()], vec![release]])).unwrap();
        assert_eq!(whole.into_measurements(0.0, [("m", 1.0)]).audited_mechanisms().len(), 1);
    }

    /// What is NaN without a reason, or infinite, overflowed. What is undefined is read as it was written.
    #[test]
    fn a_metric_without_a_value_has_a_reason() {
        let of = |value: f64| AuditableCertificate::without_claim().into_measurements(0.0, [("a", 1.0), ("r2", value)]);
        assert!(of(f64::NAN).ensure_finite().is_err());
        let explained = of(f64::NAN).explain_nan_metric("r2", "nothing varies");
        explained.ensure_finite().unwrap();
        assert!(of(f64::INFINITY).explain_nan_metric("r2", "nothing varies").ensure_finite().is_err());
        assert_eq!(of(0.5).explain_nan_metric("r2", "nothing varies").metrics[1].undefined, None);
        let text = serde_json::to_string(&explained.metrics).unwrap();
        let read: Vec<MetricMeasurement> = serde_json::from_str(&text).unwrap();
        assert!(read[1].values[0].is_nan() && read[0].values == [1.0]);
        assert_eq!((&read[0].undefined, read[1].undefined.as_deref()), (&None, Some("nothing varies")));
    }

    #[test]
    fn a_run_keeps_no_mechanism() {
        let counts =
            vec![AuditedMechanism::Counts { sd: 1.0, bins: 2, relation: NeighbourRelation::AddRemove, records: 1 }];
        let measured =
            certify(false, Certificate::private_selection(Guarantee { epsilon: 1.0, delta: 0.01 }), counts).unwrap();
        assert!(measured.into_measurements(0.0, [("m", 1.0)]).audited_mechanisms().is_empty());
    }
}

#[cfg(test)]
mod frame_tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_by_number() {
        let points = nalgebra::DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        let frame = FigureTable::new("curve").with_points(&points).with_column("drawn", [5.0, 6.0]);
        assert_eq!(frame.column("x2").unwrap(), [2.0, 4.0]);
        assert_eq!((frame.numbered_columns("x").count(), frame.numbered_columns("draw").count()), (2, 0));
        let error = frame.column("x3").unwrap_err().to_string();
        assert_eq!(error, "the frame `curve` has no column `x3`; its columns are x1, x2, drawn");
    }
}

//! Noisy sums of a variational model: builds the mechanism from a spec, and checks the kernel, the inducing
//! inputs and the mechanism.

use nalgebra::DMatrix;

use super::{
    AuditableCertificate, AuditedJointSumsNoise, AuditedMechanism, AuditedSumsNoise, RecordSumWeights, ReplicateJob,
    TaskError,
};
use dpgp_accounting::{
    CalibratedGaussianRelease, Certificate, CertifiedMechanism, NeighbourRelation, Neighbours, ReleaseKind,
};
use dpgp_gp::kernel::Interval;
use dpgp_gp::variational::{FeatureNormBound, squared_kernel_vector_norm_bound};
use dpgp_mechanisms::{
    CellSections, FeatureBoundSetting, PrivacySetting, RecordBounds, SummedValueKind, SumsNoise, SumsSensitivityRule,
    SumsSetting,
};
use dpgp_spec::setting::rules::{check_grid, check_range, fail};
use dpgp_spec::setting::{CheckResult, ModelSetting, RangeSetting, SettingError, SpecProblem};

/// The bounds that noise is scaled by.
pub(super) struct NoisySumsBounds<'a> {
    pub setting: &'a SumsSetting,
    /// On the norm of one input's covariances with the inducing inputs, as the spec asks for.
    pub features: f64,
    /// The least that is known, which certificates use: the supremum over all inputs, which is reached between
    /// the inducing inputs.
    pub least: f64,
    pub inducing: &'a [RangeSetting],
    /// Variance and lengthscale.
    pub kernel: (f64, f64),
}

/// Bounds on what one record moves in the sums.
#[derive(Debug, Clone, Copy)]
pub(super) struct SumsSensitivity {
    /// The one that noise is scaled by.
    pub assumed: f64,
    /// The least that is known to be enough.
    pub least: f64,
}

impl SumsSensitivity {
    /// The sensitivity to the replacement of all `records` records of one person: by the triangle inequality, the sum of theirs.
    pub fn times(self, records: u64) -> Self {
        Self { assumed: self.assumed * records as f64, least: self.least * records as f64 }
    }
}

impl<'a> NoisySumsBounds<'a> {
    /// For an exponentiated quadratic kernel and a product grid of inducing inputs.
    pub fn new(setting: &'a SumsSetting, inducing: &'a [RangeSetting], variance: f64, lengthscale: f64) -> Self {
        let sides = InducingGridSides { inducing, lengthscale };
        let squared = match &setting.features {
            FeatureBoundSetting::Trivial => sides.squared_feature_norm_bound(FeatureNormBound::Trivial),
            FeatureBoundSetting::PrintedLine => sides.product_squared_norm_bound(FeatureNormBound::PrintedLine),
            FeatureBoundSetting::Line => sides.product_squared_norm_bound(FeatureNormBound::Line),
            FeatureBoundSetting::Separated => sides.squared_feature_norm_bound(FeatureNormBound::Separated),
            FeatureBoundSetting::Supremum(domain) => sides.squared_feature_norm_supremum(domain),
        };
        let between: Vec<[f64; 2]> = inducing.iter().map(|range| [range.from, range.to]).collect();
        let least = squared.min(sides.squared_feature_norm_supremum(&between));
        Self {
            setting,
            features: variance * squared.sqrt(),
            least: variance * least.sqrt(),
            inducing,
            kernel: (variance, lengthscale),
        }
    }

    /// Sensitivity of `(A, sqrt(c) B)` to one record, for targets within a bound.
    pub fn sensitivity(&self, target: f64) -> SumsSensitivity {
        let SumsSetting { sensitivity, split, .. } = *self.setting;
        let assumed = sensitivity.sensitivity(RecordBounds { features: self.features, target }, split.get());
        let least = SumsSensitivityRule::Exact.sensitivity(RecordBounds { features: self.least, target }, split.get());
        SumsSensitivity { assumed, least }
    }

    /// The noise for the guarantee of a cell; none if epsilon is infinite.
    pub fn noise(&self, cell: &PrivacySetting, sensitivity: SumsSensitivity) -> SumsNoise {
        let sigma = cell.calibration.sigma(cell.epsilon.get(), cell.delta.get());
        SumsNoise::new(sigma * sensitivity.assumed, self.setting.split.get())
    }

    /// One pair of sums with noise on it, which records with these labels enter.
    pub fn sums_release(&self, noise: SumsNoise, labels: Vec<RecordSumWeights>) -> AuditedSumsNoise {
        AuditedSumsNoise { noise, kernel: self.kernel, inducing: self.inducing.to_vec(), labels }
    }

    /// Pairs of sums of the same records.
    pub fn joint_release(&self, sums: Vec<AuditedSumsNoise>) -> AuditedJointSumsNoise {
        let domain = match &self.setting.features {
            FeatureBoundSetting::Supremum(domain) => Some(domain.clone()),
            _ => None,
        };
        AuditedJointSumsNoise { sums, domain, records: 1 }
    }

    /// Guarantee of a release of a cell with privacy.
    pub fn certificate(&self, cell: &PrivacySetting, sensitivity: SumsSensitivity) -> Certificate {
        noisy_sums_certificate(ReleaseKind::Posterior, cell, sensitivity.least / sensitivity.assumed)
    }
}

/// The certificate of noise on sums; `excess` is the least known bound on their sensitivity over the one that noise is
/// scaled by.
pub(super) fn noisy_sums_certificate(release: ReleaseKind, cell: &PrivacySetting, excess: f64) -> Certificate {
    let event = CalibratedGaussianRelease {
        release,
        neighbours: Neighbours::OneRecord(NeighbourRelation::ReplaceOne),
        mechanism: CertifiedMechanism::NoisySums,
        calibration: cell.calibration,
        guarantee: cell.guarantee(),
        sensitivity: excess,
    };
    event.certificate()
}

/// Noisy sums of targets within a public bound.
pub(super) struct BoundedTargetSums<'a> {
    pub sums: NoisySumsBounds<'a>,
    /// On either side of zero.
    pub bound: f64,
    pub sensitivity: SumsSensitivity,
    /// The records that neighbours differ in.
    records: u64,
}

impl<'a> BoundedTargetSums<'a> {
    /// With the bound of the mechanism.
    ///
    /// # Errors
    /// [`TaskError::Missing`] without one, which the checks of a spec rule out.
    pub fn new(
        setting: &'a SumsSetting,
        inducing: &'a [RangeSetting],
        variance: f64,
        lengthscale: f64,
    ) -> Result<Self, TaskError> {
        let bound = setting.target_bound.ok_or(TaskError::Missing { needed: "mechanism.sums.target_bound" })?;
        Ok(Self::with_target_bound(bound.get(), NoisySumsBounds::new(setting, inducing, variance, lengthscale)))
    }

    /// Sums of targets of at most `bound` in size, where neighbours differ in one record.
    pub fn with_target_bound(bound: f64, sums: NoisySumsBounds<'a>) -> Self {
        Self { sensitivity: sums.sensitivity(bound), sums, bound, records: 1 }
    }

    /// Sets the number of records in which neighbours differ, and scales the sensitivity accordingly.
    pub fn with_neighbour_record_count(self, records: u64) -> Self {
        Self { sensitivity: self.sensitivity.times(records), records, ..self }
    }

    /// The noise for the guarantee of a cell; none if epsilon is infinite.
    pub fn noise(&self, cell: &PrivacySetting) -> SumsNoise {
        self.sums.noise(cell, self.sensitivity)
    }

    /// The sums with noise on them. Distances are convex in a target, so that its ends are the labels that matter.
    pub fn sums_release(&self, noise: SumsNoise) -> AuditedSumsNoise {
        self.sums.sums_release(noise, [-self.bound, self.bound].map(|a| RecordSumWeights { a, b: 1.0 }).to_vec())
    }

    /// Samples drawn with this noise.
    pub fn audited_mechanism(&self, noise: SumsNoise) -> AuditedMechanism {
        let releases = self.sums.joint_release(vec![self.sums_release(noise)]);
        AuditedMechanism::Records(AuditedJointSumsNoise { records: self.records, ..releases })
    }

    pub fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        self.sums.certificate(cell, self.sensitivity)
    }

    /// Guarantee of one release for a cell.
    pub fn certify(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        job.auditable_certificate(self.certificate(cell), || vec![self.audited_mechanism(self.noise(cell))])
    }
}

/// A product grid of inducing inputs, side by side.
struct InducingGridSides<'a> {
    inducing: &'a [RangeSetting],
    lengthscale: f64,
}

impl InducingGridSides<'_> {
    /// One bound for all points of the grid.
    fn squared_feature_norm_bound(&self, of: FeatureNormBound) -> f64 {
        let total = self.inducing.iter().map(|range| range.points).product();
        let nearest = self.inducing.iter().map(spacing).fold(f64::INFINITY, f64::min);
        of.squared_norm_bound(total, nearest, |distance| self.correlation(distance))
    }

    /// The product of the bounds of the sides.
    fn product_squared_norm_bound(&self, of: FeatureNormBound) -> f64 {
        let sides = self.inducing.iter();
        sides
            .map(|range| of.squared_norm_bound(range.points, spacing(range), |distance| self.correlation(distance)))
            .product()
    }

    /// The supremum over a box, by its ends along each side.
    fn squared_feature_norm_supremum(&self, domain: &[[f64; 2]]) -> f64 {
        let sides = self.inducing.iter().zip(domain);
        sides
            .map(|(range, &[low, high])| {
                squared_kernel_vector_norm_bound(&points(range), self.lengthscale, Interval { low, high })
            })
            .product()
    }

    fn correlation(&self, distance: f64) -> f64 {
        (-0.5 * (distance / self.lengthscale).powi(2)).exp()
    }
}

fn spacing(range: &RangeSetting) -> f64 {
    (range.to - range.from) / (range.points - 1) as f64
}

fn points(range: &RangeSetting) -> Vec<f64> {
    (0..range.points).map(|place| range.value_at(place)).collect()
}

/// The range in units of a lengthscale.
pub(super) fn range_in_lengthscales(range: &RangeSetting, lengthscale: f64) -> RangeSetting {
    RangeSetting { from: range.from / lengthscale, to: range.to / lengthscale, points: range.points }
}

/// The mechanism where inputs are in units of their lengthscales.
pub(super) fn sums_setting_in_lengthscales(sums: &SumsSetting, lengthscales: &[f64]) -> SumsSetting {
    let mut sums = sums.clone();
    if let FeatureBoundSetting::Supremum(domain) = &mut sums.features {
        domain.iter_mut().zip(lengthscales).for_each(|(ends, l)| ends.iter_mut().for_each(|end| *end /= l));
    }
    sums
}

/// The training rows of a sample and the others.
pub(super) fn split_off_training_inputs(inputs: &DMatrix<f64>, train: usize) -> (DMatrix<f64>, DMatrix<f64>) {
    (inputs.rows(0, train).into_owned(), inputs.rows(train, inputs.nrows() - train).into_owned())
}

/// The model, whose kernel is one that the bounds on features hold for.
pub(super) fn require_eq_model<'a>(path: &str, setting: &'a CellSections) -> Result<&'a ModelSetting, SettingError> {
    let model = setting.model(path)?;
    if model.eq_kernel_parameters().is_none() {
        let why = "this task needs the `eq` kernel".to_owned();
        return Err(SettingError::new("model.kernel", SpecProblem::Shape(why)));
    }
    Ok(model)
}

/// Fails unless the kernel is an exponentiated quadratic one, with one lengthscale or one for each input.
pub(super) fn check_eq_or_ard_kernel(path: &str, setting: &CellSections) -> CheckResult {
    if setting.model(path)?.variance_and_lengthscales(setting.data.dimensions()).is_none() {
        let why = "noisy sums need the `eq` or `eq-ard` kernel".to_owned();
        return fail("model.kernel", SpecProblem::Shape(why));
    }
    Ok(())
}

const MOST_INDUCING: usize = 1000;

/// Checks the inducing inputs of the task at a path.
pub(super) fn check_inducing_inputs(path: &str, ranges: &[RangeSetting], setting: &CellSections) -> CheckResult {
    let path = format!("{path}.inducing");
    check_grid(&path, ranges, setting.data.dimensions())?;
    let total: usize = ranges.iter().map(|range| range.points).product();
    check_range(&path, total <= MOST_INDUCING, "at most 1000 points", total as f64)
}

/// The settings of noisy sums, the only mechanism that these tasks know.
pub(super) fn require_sums_mechanism(
    setting: &CellSections,
    summed: SummedValueKind,
) -> Result<&SumsSetting, SettingError> {
    let sums = find_sums_mechanism(setting)?;
    sums.check(setting.data.dimensions(), summed)?;
    Ok(sums)
}

/// The same with noise of any shape, which is for simulations alone.
pub(super) fn require_sums_of_any_shape(
    setting: &CellSections,
    summed: SummedValueKind,
) -> Result<&SumsSetting, SettingError> {
    let sums = find_sums_mechanism(setting)?;
    sums.check_target_and_feature_bounds(setting.data.dimensions(), summed)?;
    sums.domain()?;
    Ok(sums)
}

fn find_sums_mechanism(setting: &CellSections) -> Result<&SumsSetting, SettingError> {
    let sums = setting.privacy.mechanism.downcast::<SumsSetting>();
    let sums = sums.ok_or_else(|| setting.privacy.wrong_mechanism_error("sums"))?;
    sums.target_bound.map_or(Ok(()), |bound| setting.normalise.check_target_clip(bound.get()))?;
    Ok(sums)
}

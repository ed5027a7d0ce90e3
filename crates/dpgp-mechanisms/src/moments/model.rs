//! The moments mechanism for the rows of a spec: its prior, design, release and guarantee.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nalgebra::DMatrix;
use rand::Rng;

use super::{
    FourierMomentsDesign, FourierMomentsNoise, Frequencies, IntegerCellSums, IntegerFourierMoments, MomentFeatures,
    MomentsSetting, NestedCellsDesign, NestedCellsNoise, ReleasedFourierMoments, ReleasedMoments,
};
use crate::{CellSections, MechanismError, PrivacySetting};
use dpgp_accounting::{
    CalibratedGaussianRelease, Certificate, CertifiedMechanism, GuaranteeCaveat, NeighbourRelation, Neighbours,
    PrivacyUnit, ReleaseKind,
};
use dpgp_data::rows::InMemoryRows;
use dpgp_gp::kernel::{BoxKernel, KernelSetting};
use dpgp_gp::sites::{Lattice, PublicReferenceModel};
use dpgp_noise::{PrivacyError, RoundedNoiseParameters};
use dpgp_spec::setting::rules::{check_range, fail};
use dpgp_spec::setting::{CheckResult, DataSetting, ModelSetting, NormaliseSetting, SpecProblem, prior_mean};
use dpgp_stream::{LatticeSummand, LatticeSums, TargetQuantizer, sum_rows_serially};

/// The noise on the moments of a surface, with its certificate.
#[derive(Debug, Clone)]
pub struct CertifiedMomentsNoise {
    /// The guarantee.
    pub certificate: Certificate,
    /// Its size against the sensitivity, both in units of a weight of 1.
    pub record: RoundedNoiseParameters,
}

/// The multiplier that stands for no noise: exact sums would leave singular matrices.
pub const LEAST_SIGMA: f64 = 0.01;

/// Guarantee of noisy moments for a cell.
pub fn moments_certificate(cell: &PrivacySetting) -> Certificate {
    let event = CalibratedGaussianRelease {
        release: ReleaseKind::Posterior,
        neighbours: Neighbours::OneRecord(NeighbourRelation::ReplaceOne),
        mechanism: CertifiedMechanism::NoisyMoments,
        calibration: cell.calibration,
        guarantee: cell.guarantee(),
        // The noise is scaled by the closed form, which is a bound.
        sensitivity: 1.0,
    };
    event.certificate()
}

/// The model of noisy moments over rows of any number.
#[derive(Debug, Clone)]
pub struct MomentsModel {
    mechanism: MomentsSetting,
    model: ModelSetting,
    summand: LatticeSummand,
    filtered: bool,
    unit: PrivacyUnit,
    designs: DesignCache,
}

/// A simulated release of moments, with seeded floating-point noise.
pub struct SimulatedMoments {
    /// The release.
    pub released: ReleasedMoments,
    /// The noise on it.
    pub guarantee: CertifiedMomentsNoise,
    /// Evidence for an audit.
    pub sampled: AuditedMomentsNoise,
}

/// Which moments of the records are released, and with which weights.
#[derive(Debug, Clone)]
pub enum RecordMomentsDesign {
    /// Sums of waves.
    Waves(FourierMomentsDesign),
    /// Sums and counts of cells.
    Cells(NestedCellsDesign),
}

impl RecordMomentsDesign {
    /// The expected mean squared error under the prior that it is designed for.
    pub fn risk(&self) -> f64 {
        match self {
            Self::Waves(design) => design.risk,
            Self::Cells(design) => design.risk,
        }
    }

    /// How many numbers are released.
    pub fn released_number_count(&self) -> usize {
        match self {
            Self::Waves(design) => design.released_number_count(),
            Self::Cells(design) => design.released_number_count(),
        }
    }

    /// How far the moments of one record move, in whole numbers.
    fn sensitivity(&self) -> f64 {
        match self {
            Self::Waves(design) => design.lattice_sensitivity(),
            Self::Cells(design) => design.sensitivity(),
        }
    }

    /// The noise on a number of weight 1, for `sigma` sensitivities.
    fn unit_weight_noise_sd(&self, sigma: f64) -> f64 {
        match self {
            Self::Waves(design) => design.lattice_noise(sigma).scale,
            Self::Cells(design) => design.noise(sigma).scale,
        }
    }
}

/// A design with the noise that it is for.
struct DesignWithNoise {
    design: RecordMomentsDesign,
    sigma: f64,
    guarantee: CertifiedMomentsNoise,
}

impl MomentsModel {
    /// The model of a cell; none if it has another mechanism, no model, or targets without public bounds.
    pub fn new(setting: &CellSections) -> Option<Self> {
        let moments = setting.privacy.mechanism.downcast::<MomentsSetting>()?;
        let model = setting.model.as_deref()?.clone();
        Self::from_parts(moments.clone(), model, &setting.normalise, &setting.data)
    }

    /// The same from its parts; none for targets without public bounds.
    pub fn from_parts(
        moments: MomentsSetting,
        model: ModelSetting,
        normalise: &NormaliseSetting,
        data: &DataSetting,
    ) -> Option<Self> {
        let targets = public_target_quantizer(normalise, moments.target_bound.get())?;
        Some(Self {
            summand: LatticeSummand {
                lattice: Lattice::for_inputs(moments.domain.len()),
                domain: moments.domain.clone(),
                targets,
                filters: data.row_filter_comparisons(),
            },
            mechanism: moments,
            model,
            filtered: data.filters_by_target(),
            unit: data.privacy_unit(),
            designs: DesignCache::default(),
        })
    }

    /// Count over the rows of a file: the inputs, the target and the columns of the filters.
    pub fn summand(&self) -> &LatticeSummand {
        &self.summand
    }

    /// Settings of the mechanism.
    pub fn mechanism(&self) -> &MomentsSetting {
        &self.mechanism
    }

    /// Whether the kernel is a sum of functions of one input or two.
    pub fn is_sum_over_inputs_or_pairs(&self) -> bool {
        matches!(self.model.kernel, KernelSetting::Additive(_))
    }

    /// The rows of a sample, which have passed the filters, in their cells: a column for each input, then the targets.
    ///
    /// # Errors
    /// [`MechanismError::Missing`] if a row has no place in them.
    pub fn sum_rows_on_lattice(&self, columns: Vec<&[f64]>) -> Result<LatticeSums, MechanismError> {
        let summand = LatticeSummand { filters: Vec::new(), ..self.summand.clone() };
        let part = sum_rows_serially(&mut InMemoryRows::new(columns), &summand);
        Ok(part.map_err(|_| MechanismError::Missing("rows that can be summed"))?.sums)
    }

    /// The moments with exactly rounded noise for the guarantee of a cell, which has one.
    ///
    /// # Errors
    /// [`MechanismError`] for noise beyond the arithmetic.
    pub fn release(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
        source: &mut impl Rng,
    ) -> Result<ReleasedMoments, MechanismError> {
        let DesignWithNoise { design, sigma, .. } = self.design_moments_for_cell(sums, cell)?;
        let (rows, unit) = (sums.to_row_sums(), self.summand.target_unit_value());
        Ok(match &design {
            RecordMomentsDesign::Waves(design) => {
                let noisy =
                    IntegerFourierMoments::new(design, &rows)?.release(&design.lattice_noise(sigma), unit, source)?;
                ReleasedMoments::Waves(ReleasedFourierMoments::new(design, &noisy))
            }
            RecordMomentsDesign::Cells(design) => {
                let whole = IntegerCellSums::new(design, &rows);
                ReleasedMoments::Cells(whole.release(design, &design.noise(sigma), unit, source)?)
            }
        })
    }

    /// A simulation of a release, with floating-point noise of a seeded stream; the moments themselves without privacy.
    pub fn simulate_release(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> Result<SimulatedMoments, MechanismError> {
        let DesignWithNoise { design, sigma, guarantee } = self.design_moments_for_cell(sums, cell)?;
        let (rows, unit, free) = (sums.to_row_sums(), self.summand.target_unit_value(), cell.epsilon.is_unprotected());
        let design = match design {
            RecordMomentsDesign::Waves(design) => design,
            RecordMomentsDesign::Cells(design) => {
                let (whole, noise) = (IntegerCellSums::new(&design, &rows), design.noise(sigma));
                let times = if free { 0.0 } else { 1.0 };
                let released = whole.simulate_release(&design, &noise, unit, times, stream);
                let sampled = AuditedMomentsNoise::Cells(AuditedCellsNoise { noise, bound: design.bound });
                return Ok(SimulatedMoments { released: ReleasedMoments::Cells(released), guarantee, sampled });
            }
        };
        let exact = IntegerFourierMoments::new(&design, &rows)?.to_real_units(unit);
        let noise = design.lattice_noise(sigma);
        let noisy = if free { noise.attach_variances(exact) } else { noise.simulate_release(&exact, stream) };
        let sampled = AuditedWavesNoise {
            weighted: design.frequencies.clone(),
            plain: design.pairs.clone(),
            noise,
            period: design.period,
            bound: design.rule.target_bound(),
            counts: Vec::new(),
        };
        let released = ReleasedMoments::Waves(ReleasedFourierMoments::new(&design, &noisy));
        Ok(SimulatedMoments { released, guarantee, sampled: AuditedMomentsNoise::Waves(sampled) })
    }

    /// The moments as they are in whole numbers, in the order of a file; never to be shown.
    ///
    /// # Errors
    /// [`MechanismError`] as for a release.
    pub fn exact_moments(&self, sums: &LatticeSums, cell: &PrivacySetting) -> Result<Vec<f64>, MechanismError> {
        let DesignWithNoise { design, .. } = self.design_moments_for_cell(sums, cell)?;
        let (rows, unit) = (sums.to_row_sums(), self.summand.target_unit_value());
        let (exact, counted) = match &design {
            RecordMomentsDesign::Waves(design) => {
                (IntegerFourierMoments::new(design, &rows)?.to_real_units(unit), design.counted)
            }
            RecordMomentsDesign::Cells(design) => {
                let mut numbers = IntegerCellSums::new(design, &rows).to_real_units(unit);
                numbers.extend(design.counted.then_some(sums.rows as f64));
                return Ok(numbers);
            }
        };
        let mut numbers: Vec<f64> = exact.weighted.iter().chain(exact.plain.iter()).copied().collect();
        numbers.push(exact.squares);
        numbers.extend(counted.then_some(sums.rows as f64));
        Ok(numbers)
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    ///
    /// # Errors
    /// [`MechanismError`] if no design can be computed.
    pub fn certified_noise(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
    ) -> Result<CertifiedMomentsNoise, MechanismError> {
        Ok(self.design_moments_for_cell(sums, cell)?.guarantee)
    }

    /// The moments of least expected error for the noise of a cell.
    ///
    /// Obligation: it depends on the number of rows where that is public, and on the spec.
    fn design_moments_for_cell(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
    ) -> Result<DesignWithNoise, MechanismError> {
        let (rows, sigma) = (self.public_row_count(sums.rows as usize), self.row_noise_multiplier(cell));
        let key = DesignKey { rows, sigma };
        let design = self.designs.get_or_compute(key, || self.design_moments(&self.reference_model(rows)?, sigma))?;
        let sensitivity = design.sensitivity() * self.unit.max_records() as f64;
        let certificate = moments_certificate(cell).with_privacy_unit(self.unit.clone());
        let certificate = match cell.epsilon.is_unprotected() {
            true => certificate,
            false => certificate.with_caveats(&[(GuaranteeCaveat::PrivateFilter, self.filtered)]),
        };
        let record = RoundedNoiseParameters { sensitivity, sd: design.unit_weight_noise_sd(sigma) };
        Ok(DesignWithNoise { design, sigma, guarantee: CertifiedMomentsNoise { certificate, record } })
    }

    /// The public number of rows: that of the spec, where theirs is private.
    pub fn public_row_count(&self, rows: usize) -> usize {
        self.mechanism.rows.map_or(rows, |rows| rows.get())
    }

    /// The noise over the sensitivity of one row. The rows of a person move the moments as far as each of them does, all together.
    pub fn row_noise_multiplier(&self, cell: &PrivacySetting) -> f64 {
        cell.noise_multiplier().max(LEAST_SIGMA) * self.unit.max_records() as f64
    }

    /// The design of least expected error for a belief and noise of a size.
    ///
    /// # Errors
    /// [`MechanismError`] if none can be computed.
    pub fn design_moments(
        &self,
        reference: &PublicReferenceModel,
        sigma: f64,
    ) -> Result<RecordMomentsDesign, MechanismError> {
        if self.mechanism.features == MomentFeatures::Cells {
            let lattice = self.summand.lattice;
            let design = match self.mechanism.cells_per_input {
                None => NestedCellsDesign::with_least_risk(reference, lattice, sigma)?,
                Some(cells) => NestedCellsDesign::with_one_grid(reference.bound, lattice, cells.get().ilog2())?,
            };
            return Ok(RecordMomentsDesign::Cells(NestedCellsDesign {
                counted: self.mechanism.rows.is_some(),
                ..design
            }));
        }
        let design = FourierMomentsDesign::with_least_risk(reference, sigma, &self.candidate_periods())?;
        Ok(RecordMomentsDesign::Waves(FourierMomentsDesign { counted: self.mechanism.rows.is_some(), ..design }))
    }

    /// Lower bound on the risk of every design of waves; none of cells.
    pub fn risk_lower_bound(
        &self,
        reference: &PublicReferenceModel,
        sigma: f64,
    ) -> Result<Option<f64>, MechanismError> {
        if self.mechanism.features == MomentFeatures::Cells {
            return Ok(None);
        }
        Ok(Some(FourierMomentsDesign::risk_lower_bound(reference, sigma, &self.candidate_periods())?))
    }

    /// The periods that designs choose from, on the lattice.
    fn candidate_periods(&self) -> Vec<f64> {
        let periods = self.mechanism.period.map_or(FourierMomentsDesign::PERIODS.to_vec(), |period| vec![period]);
        periods.iter().map(|period| self.summand.lattice.nearest_whole_cell_period(*period)).collect()
    }

    /// The belief that a release of so many rows is designed for.
    ///
    /// # Errors
    /// [`MechanismError`] without a stationary kernel or noise.
    pub fn reference_model(&self, rows: usize) -> Result<PublicReferenceModel, MechanismError> {
        reference_model_for_moments(&self.model, &self.mechanism, rows)
    }
}

/// Noise on the moments of records, for an audit.
#[derive(Debug, Clone, PartialEq)]
pub enum AuditedMomentsNoise {
    /// Of waves.
    Waves(AuditedWavesNoise),
    /// Of cells.
    Cells(AuditedCellsNoise),
}

/// Noise on sums and counts of nested cells.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedCellsNoise {
    /// The standard deviations that were used.
    pub noise: NestedCellsNoise,
    /// The bound on targets.
    pub bound: f64,
}

/// Noise on the Fourier moments of records.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedWavesNoise {
    /// The frequencies of the sums that targets weigh.
    pub weighted: Frequencies,
    /// Those of the plain sums.
    pub plain: Frequencies,
    /// The standard deviations that were used.
    pub noise: FourierMomentsNoise,
    /// The period, in sides of the box.
    pub period: f64,
    /// The bound on targets.
    pub bound: f64,
    /// The standard deviations of the noise on numbers of rows that are released after them.
    pub counts: Vec<f64>,
}

/// Parameters of a design beside the spec: the number of rows and the size of the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DesignKey {
    pub rows: usize,
    pub sigma: f64,
}

#[derive(Debug)]
struct CachedDesign {
    key: DesignKey,
    design: RecordMomentsDesign,
}

/// The designs of a model, shared by draws and by cells on several threads.
#[derive(Debug, Clone, Default)]
struct DesignCache(Arc<Mutex<Vec<CachedDesign>>>);

impl DesignCache {
    /// The design of a key: a known one, or a new one.
    pub fn get_or_compute<E>(
        &self,
        key: DesignKey,
        make: impl FnOnce() -> Result<RecordMomentsDesign, E>,
    ) -> Result<RecordMomentsDesign, E> {
        if let Some(known) = self.lock_designs().iter().find(|known| known.key == key) {
            return Ok(known.design.clone());
        }
        // The lock is not held here, so that other keys do not wait.
        let design = make()?;
        self.lock_designs().push(CachedDesign { key, design: design.clone() });
        Ok(design)
    }

    fn lock_designs(&self) -> MutexGuard<'_, Vec<CachedDesign>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that the design of least expected error depends on: it is public, and the folds of a cross-validation share it.
#[derive(Debug, Clone, PartialEq)]
pub struct FourierDesignProblem {
    /// Prior of the data.
    pub reference: PublicReferenceModel,
    /// The noise over the sensitivity of one row.
    pub sigma: f64,
    /// The period that is wanted, if one is.
    pub period: Option<f64>,
}

impl FourierDesignProblem {
    /// The design.
    ///
    /// # Errors
    /// [`PrivacyError`] without noise, or if the bound on targets is not positive.
    pub fn solve_design(&self) -> Result<FourierMomentsDesign, PrivacyError> {
        let periods = self.period.map_or(FourierMomentsDesign::PERIODS.to_vec(), |period| vec![period]);
        FourierMomentsDesign::with_least_risk(&self.reference, self.sigma, &periods)
    }
}

/// How close the density of inputs is to the uniform one, before anything is known of it.
const CONCENTRATION: f64 = 10.0;
/// The variance of the mean of the process, over the square of the bound on targets.
const BIAS: f64 = 0.25;

/// The belief that a release of so many rows is designed for, in units of the box.
pub fn reference_model_for_moments(
    model: &ModelSetting,
    setting: &MomentsSetting,
    rows: usize,
) -> Result<PublicReferenceModel, MechanismError> {
    let bound = setting.target_bound.get();
    let noise = model.noise_variance.ok_or(MechanismError::Missing("model.noise_variance"))?;
    let kernel = BoxKernel::new(&model.kernel, setting.box_side_lengths());
    Ok(PublicReferenceModel {
        rows,
        bound,
        bias: BIAS * bound * bound,
        kernel: kernel.ok_or(MechanismError::Missing("a stationary kernel"))?,
        noise_variance: noise.get(),
        concentration: CONCENTRATION,
    })
}

/// Checks what a task at a path needs of a spec: a model with noise and a stationary kernel, a box, a number of rows, and no keys
/// that are for noisy sums.
pub fn check_spec_for_moments(
    path: &str,
    moments: &MomentsSetting,
    without_sums: bool,
    setting: &CellSections,
) -> CheckResult {
    if !without_sums {
        let why = "noisy moments do not use inducing inputs or a posterior rule; remove them";
        return fail(path, SpecProblem::Shape(why.to_owned()));
    }
    setting.model(path)?.check_noise_variance("noisy moments")?;
    moments.check(setting.data.dimensions())?;
    setting.normalise.check_target_clip(moments.target_bound.get())?;
    moments.check_row_count_is_known(&setting.data)?;
    check_stationary_kernel(setting)
}

/// Fails where a task has no use for cells.
///
/// # Errors
/// [`SpecProblem::Shape`].
pub fn check_waves_only(path: &str, moments: &MomentsSetting) -> CheckResult {
    match moments.features {
        MomentFeatures::Waves => Ok(()),
        MomentFeatures::Cells => {
            fail("privacy.mechanism.moments.features", SpecProblem::Shape(format!("{path} works only with \"waves\"")))
        }
    }
}

/// More functions of two inputs than this would need too many moments.
const MOST_PAIRS: usize = 16;

/// Fails unless the kernel is one that moments are designed for.
pub fn check_stationary_kernel(setting: &CellSections) -> CheckResult {
    let Some(model) = setting.model.as_deref() else { return Ok(()) };
    let why = match BoxKernel::new(&model.kernel, vec![1.0; setting.data.dimensions()]) {
        None => "noisy moments need a stationary kernel: no part of it may be `gibbs` or `linear`",
        Some(kernel) if !kernel.supports_fourier_moments() => {
            "noisy moments with more than four inputs need the `additive` kernel"
        }
        Some(_) => return check_additive_pair_count(&model.kernel),
    };
    fail("model.kernel", SpecProblem::Shape(why.to_owned()))
}

fn check_additive_pair_count(kernel: &KernelSetting) -> CheckResult {
    let KernelSetting::Additive(additive) = kernel else { return Ok(()) };
    let pairs = additive.pairs.len();
    check_range("model.kernel.additive.pairs", pairs <= MOST_PAIRS, "at most 16 pairs for noisy moments", pairs as f64)
}

/// Inputs in units of the box (n x d); those outside move to its nearest point.
pub fn scale_and_clip_to_box(inputs: &DMatrix<f64>, domain: &[[f64; 2]]) -> DMatrix<f64> {
    DMatrix::from_fn(inputs.nrows(), inputs.ncols(), |row, column| {
        let [low, high] = domain[column];
        ((inputs[(row, column)] - low) / (high - low)).clamp(0.0, 1.0)
    })
}

/// Normalisation by public constants and a bound; none by private statistics.
pub fn public_target_quantizer(normalise: &NormaliseSetting, bound: f64) -> Option<TargetQuantizer> {
    let free = TargetQuantizer { low: f64::NEG_INFINITY, high: f64::INFINITY, centre: 0.0, scale: 1.0, bound };
    match *normalise {
        NormaliseSetting::None => Some(free),
        NormaliseSetting::Constants { centre, scale } => {
            Some(TargetQuantizer { centre: centre.get(), scale: scale.get(), ..free })
        }
        NormaliseSetting::Bounds { low, high, centre, scale } => Some(TargetQuantizer {
            low: low.get(),
            high: high.get(),
            centre: prior_mean(low, high, centre),
            scale: scale.get(),
            bound,
        }),
        NormaliseSetting::Private { .. } | NormaliseSetting::Standardised { .. } => None,
    }
}

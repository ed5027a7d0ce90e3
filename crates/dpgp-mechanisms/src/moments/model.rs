//! The moments mechanism for the rows of a spec: its prior, design, release and guarantee.

use std::sync::{Arc, Mutex, PoisonError};

use nalgebra::DMatrix;
use rand::Rng;

use super::{
    CellsDesign, CellsNoise, Frequencies, IntegerCells, IntegerMoments, MomentFeatures, MomentsDesign,
    MomentsNoise, MomentsSetting, ReleasedMoments, ReleasedWaves,
};
use crate::public_targets::public_targets;
use crate::{MechanismError, PrivacySetting, Sections};
use dpgp_accounting::{
    Caveat, Certificate, CertifiedMechanism, GaussianEvent, Neighbours, PrivacyUnit, Relation, Release,
};
use dpgp_data::rows::InMemory;
use dpgp_gp::kernel::{BoxKernel, KernelSetting};
use dpgp_gp::sites::{Lattice, SiteReference};
use dpgp_noise::{PrivacyError, RoundedNoise};
use dpgp_spec::setting::rules::{fail, range};
use dpgp_spec::setting::{Checked, DataSetting, ModelSetting, NormaliseSetting, Problem};
use dpgp_stream::{LatticeSummand, LatticeSums, collect_here};

/// The noise on the moments of a surface.
#[derive(Debug, Clone)]
pub struct MomentsGuarantee {
    /// The guarantee.
    pub certificate: Certificate,
    /// Its size against the sensitivity, both in units of a weight of 1.
    pub record: RoundedNoise,
}

/// The multiplier that stands for no noise: exact sums would leave singular matrices.
pub const LEAST_SIGMA: f64 = 0.01;

/// Guarantee of noisy moments for a cell.
pub fn moments_certificate(cell: &PrivacySetting) -> Certificate {
    let event = GaussianEvent {
        release: Release::Posterior,
        neighbours: Neighbours::OneRecord(Relation::ReplaceOne),
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
    designs: LastDesign,
}

/// A release in a simulation.
pub struct SimulatedMoments {
    /// The release.
    pub released: ReleasedMoments,
    /// The noise on it.
    pub guarantee: MomentsGuarantee,
    /// Evidence for an audit.
    pub sampled: MomentsEvidence,
}

/// The moments of a release.
#[derive(Debug, Clone)]
pub enum RecordDesign {
    /// Sums of waves.
    Waves(MomentsDesign),
    /// Sums and counts of cells.
    Cells(CellsDesign),
}

impl RecordDesign {
    /// The expected mean squared error under the prior that it is designed for.
    pub fn risk(&self) -> f64 {
        match self {
            Self::Waves(design) => design.risk,
            Self::Cells(design) => design.risk,
        }
    }

    /// How many numbers are released.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Waves(design) => design.numbers(),
            Self::Cells(design) => design.numbers(),
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
    fn scale(&self, sigma: f64) -> f64 {
        match self {
            Self::Waves(design) => design.lattice_noise(sigma).scale,
            Self::Cells(design) => design.noise(sigma).scale,
        }
    }
}

/// A design with the noise that it is for.
struct DesignedNoise {
    design: RecordDesign,
    sigma: f64,
    guarantee: MomentsGuarantee,
}

impl MomentsModel {
    /// The model of a cell; none if it has another mechanism, no model, or targets without public bounds.
    pub fn new(setting: &Sections) -> Option<Self> {
        let moments = setting.privacy.mechanism.downcast::<MomentsSetting>()?;
        let model = setting.model.as_deref()?.clone();
        Self::of_parts(moments.clone(), model, &setting.normalise, &setting.data)
    }

    /// The same from its parts; none for targets without public bounds.
    pub fn of_parts(
        moments: MomentsSetting,
        model: ModelSetting,
        normalise: &NormaliseSetting,
        data: &DataSetting,
    ) -> Option<Self> {
        let targets = public_targets(normalise, moments.target_bound.get())?;
        Some(Self {
            summand: LatticeSummand {
                lattice: Lattice::for_inputs(moments.domain.len()),
                domain: moments.domain.clone(),
                targets,
                filters: data.comparisons(),
            },
            mechanism: moments,
            model,
            filtered: data.filters_by_target(),
            unit: data.unit(),
            designs: LastDesign::default(),
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
    pub fn is_additive(&self) -> bool {
        matches!(self.model.kernel, KernelSetting::Additive(_))
    }

    /// The rows of a sample, which have passed the filters, in their cells: a column for each input, then the targets.
    ///
    /// # Errors
    /// [`MechanismError::Missing`] if a row has no place in them.
    pub fn sums(&self, columns: Vec<&[f64]>) -> Result<LatticeSums, MechanismError> {
        let summand = LatticeSummand { filters: Vec::new(), ..self.summand.clone() };
        let part = collect_here(&mut InMemory::new(columns), &summand);
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
        let DesignedNoise { design, sigma, .. } = self.designed(sums, cell)?;
        let (rows, unit) = (sums.counted(), self.summand.unit());
        Ok(match &design {
            RecordDesign::Waves(design) => {
                let noisy = IntegerMoments::new(design, &rows)?.release(
                    &design.lattice_noise(sigma),
                    unit,
                    source,
                )?;
                ReleasedMoments::Waves(ReleasedWaves::new(design, &noisy))
            }
            RecordDesign::Cells(design) => {
                let whole = IntegerCells::new(design, &rows);
                ReleasedMoments::Cells(whole.release(design, &design.noise(sigma), unit, source)?)
            }
        })
    }

    /// A simulation of a release, with floating-point noise of a seeded stream; the moments themselves without privacy.
    pub fn simulated(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> Result<SimulatedMoments, MechanismError> {
        let DesignedNoise { design, sigma, guarantee } = self.designed(sums, cell)?;
        let (rows, unit, free) = (sums.counted(), self.summand.unit(), cell.epsilon.is_unprotected());
        let design = match design {
            RecordDesign::Waves(design) => design,
            RecordDesign::Cells(design) => {
                let (whole, noise) = (IntegerCells::new(&design, &rows), design.noise(sigma));
                let times = if free { 0.0 } else { 1.0 };
                let released = whole.simulated(&design, &noise, unit, times, stream);
                let sampled = MomentsEvidence::Cells(CellsRelease { noise, bound: design.bound });
                return Ok(SimulatedMoments {
                    released: ReleasedMoments::Cells(released),
                    guarantee,
                    sampled,
                });
            }
        };
        let exact = IntegerMoments::new(&design, &rows)?.real(unit);
        let noise = design.lattice_noise(sigma);
        let noisy = if free { noise.stated(exact) } else { noise.release(&exact, stream) };
        let sampled = MomentsRelease {
            weighted: design.frequencies.clone(),
            plain: design.pairs.clone(),
            noise,
            period: design.period,
            bound: design.rule.bound(),
            counts: Vec::new(),
        };
        let released = ReleasedMoments::Waves(ReleasedWaves::new(&design, &noisy));
        Ok(SimulatedMoments { released, guarantee, sampled: MomentsEvidence::Waves(sampled) })
    }

    /// The moments as they are in whole numbers, in the order of a file; never to be shown.
    ///
    /// # Errors
    /// [`MechanismError`] as for a release.
    pub fn exact(&self, sums: &LatticeSums, cell: &PrivacySetting) -> Result<Vec<f64>, MechanismError> {
        let DesignedNoise { design, .. } = self.designed(sums, cell)?;
        let (rows, unit) = (sums.counted(), self.summand.unit());
        let (exact, counted) = match &design {
            RecordDesign::Waves(design) => (IntegerMoments::new(design, &rows)?.real(unit), design.counted),
            RecordDesign::Cells(design) => {
                let mut numbers = IntegerCells::new(design, &rows).real(unit);
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
    pub fn guarantee(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
    ) -> Result<MomentsGuarantee, MechanismError> {
        Ok(self.designed(sums, cell)?.guarantee)
    }

    /// The moments of least expected error for the noise of a cell.
    ///
    /// Obligation: it depends on the number of rows where that is public, and on the spec.
    fn designed(&self, sums: &LatticeSums, cell: &PrivacySetting) -> Result<DesignedNoise, MechanismError> {
        let (rows, sigma) = (self.known_rows(sums.rows as usize), self.sigma(cell));
        let key = DesignKey { rows, sigma };
        let design = self.designs.or_new(key, || self.design(&self.reference(rows)?, sigma))?;
        let sensitivity = design.sensitivity() * self.unit.records() as f64;
        let certificate = moments_certificate(cell).about(self.unit.clone());
        let certificate = match cell.epsilon.is_unprotected() {
            true => certificate,
            false => certificate.with_caveats(&[(Caveat::PrivateFilter, self.filtered)]),
        };
        let record = RoundedNoise { sensitivity, sd: design.scale(sigma) };
        Ok(DesignedNoise { design, sigma, guarantee: MomentsGuarantee { certificate, record } })
    }

    /// The public number of rows: that of the spec, where theirs is private.
    pub fn known_rows(&self, rows: usize) -> usize {
        self.mechanism.rows.map_or(rows, |rows| rows.get())
    }

    /// The noise over the sensitivity of one row. The rows of a person move the moments as far as each of them does, all together.
    pub fn sigma(&self, cell: &PrivacySetting) -> f64 {
        cell.noise_multiplier().max(LEAST_SIGMA) * self.unit.records() as f64
    }

    /// The design of least expected error for a belief and noise of a size.
    ///
    /// # Errors
    /// [`MechanismError`] if none can be computed.
    pub fn design(&self, reference: &SiteReference, sigma: f64) -> Result<RecordDesign, MechanismError> {
        if self.mechanism.features == MomentFeatures::Cells {
            let design = CellsDesign::least_risk(reference, self.summand.lattice, sigma)?;
            return Ok(RecordDesign::Cells(CellsDesign { counted: self.mechanism.rows.is_some(), ..design }));
        }
        let design = MomentsDesign::least_risk(reference, sigma, &self.periods())?;
        Ok(RecordDesign::Waves(MomentsDesign { counted: self.mechanism.rows.is_some(), ..design }))
    }

    /// Lower bound on the risk of every design of waves; none of cells.
    pub fn lower_bound(&self, reference: &SiteReference, sigma: f64) -> Result<Option<f64>, MechanismError> {
        if self.mechanism.features == MomentFeatures::Cells {
            return Ok(None);
        }
        Ok(Some(MomentsDesign::lower_bound(reference, sigma, &self.periods())?))
    }

    /// The periods that designs choose from, on the lattice.
    fn periods(&self) -> Vec<f64> {
        let periods = self.mechanism.period.map_or(MomentsDesign::PERIODS.to_vec(), |period| vec![period]);
        periods.iter().map(|period| self.summand.lattice.period(*period)).collect()
    }

    /// The belief that a release of so many rows is designed for.
    ///
    /// # Errors
    /// [`MechanismError`] without a stationary kernel or noise.
    pub fn reference(&self, rows: usize) -> Result<SiteReference, MechanismError> {
        moments_reference(&self.model, &self.mechanism, rows)
    }
}

/// Noise on the moments of records, for an audit.
#[derive(Debug, Clone, PartialEq)]
pub enum MomentsEvidence {
    /// Of waves.
    Waves(MomentsRelease),
    /// Of cells.
    Cells(CellsRelease),
}

/// Noise on sums and counts of nested cells.
#[derive(Debug, Clone, PartialEq)]
pub struct CellsRelease {
    /// The standard deviations that were used.
    pub noise: CellsNoise,
    /// The bound on targets.
    pub bound: f64,
}

/// Noise on the Fourier moments of records.
#[derive(Debug, Clone, PartialEq)]
pub struct MomentsRelease {
    /// The frequencies of the sums that targets weigh.
    pub weighted: Frequencies,
    /// Those of the plain sums.
    pub plain: Frequencies,
    /// The standard deviations that were used.
    pub noise: MomentsNoise,
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
struct KnownDesign {
    key: DesignKey,
    design: RecordDesign,
}

/// The last design of a model, which many draws share.
#[derive(Debug, Clone, Default)]
struct LastDesign(Arc<Mutex<Option<KnownDesign>>>);

impl LastDesign {
    /// The design of a key: the last one, or a new one.
    pub fn or_new<E>(
        &self,
        key: DesignKey,
        make: impl FnOnce() -> Result<RecordDesign, E>,
    ) -> Result<RecordDesign, E> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = known.as_ref().filter(|last| last.key == key) {
            return Ok(last.design.clone());
        }
        let design = make()?;
        *known = Some(KnownDesign { key, design: design.clone() });
        Ok(design)
    }
}

/// All that the design of least expected error depends on: it is public, and the folds of a cross-validation share it.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignQuestion {
    /// Prior of the data.
    pub reference: SiteReference,
    /// The noise over the sensitivity of one row.
    pub sigma: f64,
    /// The period that is wanted, if one is.
    pub period: Option<f64>,
}

impl DesignQuestion {
    /// The design.
    ///
    /// # Errors
    /// [`PrivacyError`] without noise, or if the bound on targets is not positive.
    pub fn answer(&self) -> Result<MomentsDesign, PrivacyError> {
        let periods = self.period.map_or(MomentsDesign::PERIODS.to_vec(), |period| vec![period]);
        MomentsDesign::least_risk(&self.reference, self.sigma, &periods)
    }
}

/// How close the density of inputs is to the uniform one, before anything is known of it.
const CONCENTRATION: f64 = 10.0;
/// The variance of the mean of the process, over the square of the bound on targets.
const BIAS: f64 = 0.25;

/// The belief that a release of so many rows is designed for, in units of the box.
pub fn moments_reference(
    model: &ModelSetting,
    setting: &MomentsSetting,
    rows: usize,
) -> Result<SiteReference, MechanismError> {
    let bound = setting.target_bound.get();
    let noise = model.noise_variance.ok_or(MechanismError::Missing("model.noise_variance"))?;
    let kernel = BoxKernel::new(&model.kernel, setting.sides());
    Ok(SiteReference {
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
pub fn check_moments(
    path: &str,
    moments: &MomentsSetting,
    without_sums: bool,
    setting: &Sections,
) -> Checked {
    if !without_sums {
        let why = "noisy moments do not use inducing inputs or a posterior rule; remove them";
        return fail(path, Problem::Shape(why.to_owned()));
    }
    setting.model(path)?.has_noise("noisy moments")?;
    moments.check(setting.data.dimensions())?;
    setting.normalise.keeps_targets(moments.target_bound.get())?;
    moments.knows_rows(&setting.data)?;
    check_stationary(setting)
}

/// Fails where a task has no use for cells.
///
/// # Errors
/// [`Problem::Shape`].
pub fn waves_alone(path: &str, moments: &MomentsSetting) -> Checked {
    match moments.features {
        MomentFeatures::Waves => Ok(()),
        MomentFeatures::Cells => fail(
            "privacy.mechanism.moments.features",
            Problem::Shape(format!("{path} works with \"waves\"; \"cells\" are for task.surface")),
        ),
    }
}

/// More functions of two inputs than this would need too many moments.
const MOST_PAIRS: usize = 16;

/// Fails unless the kernel is one that moments are designed for.
pub fn check_stationary(setting: &Sections) -> Checked {
    let Some(model) = setting.model.as_deref() else { return Ok(()) };
    let why = match BoxKernel::new(&model.kernel, vec![1.0; setting.data.dimensions()]) {
        None => "noisy moments need a stationary kernel: no part of it may be `gibbs` or `linear`",
        Some(kernel) if !kernel.has_moments() => {
            "noisy moments with more than four inputs need the kernel `additive`"
        }
        Some(_) => return few_pairs(&model.kernel),
    };
    fail("model.kernel", Problem::Shape(why.to_owned()))
}

fn few_pairs(kernel: &KernelSetting) -> Checked {
    let KernelSetting::Additive(additive) = kernel else { return Ok(()) };
    let pairs = additive.pairs.len();
    range("model.kernel.additive.pairs", pairs <= MOST_PAIRS, "at most 16 pairs for moments", pairs as f64)
}

/// Inputs in units of the box (n x d); those outside move to its nearest point.
pub fn within_box(inputs: &DMatrix<f64>, domain: &[[f64; 2]]) -> DMatrix<f64> {
    DMatrix::from_fn(inputs.nrows(), inputs.ncols(), |row, column| {
        let [low, high] = domain[column];
        ((inputs[(row, column)] - low) / (high - low)).clamp(0.0, 1.0)
    })
}

//! A surface from noisy moments: what is counted and what is released.

use rand::Rng;

use super::designs::{DesignKey, LastDesign};
use super::reference::reference;
use super::{LEAST_SIGMA, MomentsGuarantee, ReleasedMoments, certificate, sigma};
use crate::public_targets::public_targets;
use crate::{MomentsRelease, Sample, Sampled, TaskError};
use dpgp_accounting::{Caveat, PrivacyUnit};
use dpgp_data::rows::InMemory;
use dpgp_gp::kernel::KernelSetting;
use dpgp_gp::sites::{Lattice, SiteReference};
use dpgp_mechanisms::{MomentsDesign, WholeMoments};
use dpgp_mechanisms::{MomentsSetting, PrivacySetting, Sections};
use dpgp_noise::RoundedNoise;
use dpgp_spec::setting::{DataSetting, ModelSetting, NormaliseSetting};
use dpgp_stream::{LatticeSummand, LatticeSums, collect_here};

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
pub(crate) struct SimulatedMoments {
    pub released: ReleasedMoments,
    pub guarantee: MomentsGuarantee,
    /// What an audit judges.
    pub sampled: Sampled,
}

/// A design with the noise that it is for.
struct DesignedNoise {
    design: MomentsDesign,
    guarantee: MomentsGuarantee,
}

impl MomentsModel {
    /// The model of a cell; none if it has another mechanism, no model, or targets without public bounds.
    pub fn new(setting: &Sections) -> Option<Self> {
        let moments = setting.privacy.mechanism.of::<MomentsSetting>()?;
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
            filtered: data.filter.iter().any(|filter| filter.column == data.target),
            unit: data.unit(),
            designs: LastDesign::default(),
        })
    }

    /// What is counted over the rows of a file: the inputs, the target and the columns of the filters.
    pub fn summand(&self) -> &LatticeSummand {
        &self.summand
    }

    /// What the spec says of the mechanism.
    pub fn mechanism(&self) -> &MomentsSetting {
        &self.mechanism
    }

    /// Whether the kernel is a sum of functions of one input or two.
    pub(crate) fn is_additive(&self) -> bool {
        matches!(self.model.kernel, KernelSetting::Additive(_))
    }

    /// The rows of a sample, which have passed the filters, in their cells.
    ///
    /// # Errors
    /// [`TaskError::Missing`] if a row has no place in them.
    pub fn sums(&self, sample: &Sample) -> Result<LatticeSums, TaskError> {
        let mut columns = sample.input_columns();
        columns.push(&sample.targets);
        let summand = LatticeSummand { filters: Vec::new(), ..self.summand.clone() };
        let part = collect_here(&mut InMemory::new(columns), &summand);
        Ok(part.map_err(|_| TaskError::Missing { needed: "rows that can be summed" })?.sums)
    }

    /// The moments with exactly rounded noise for the guarantee of a cell, which has one.
    ///
    /// # Errors
    /// [`TaskError`] for noise beyond the arithmetic.
    pub fn release(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
        source: &mut impl Rng,
    ) -> Result<ReleasedMoments, TaskError> {
        let DesignedNoise { design, guarantee } = self.designed(sums, cell)?;
        let whole = WholeMoments::new(&design, &sums.counted())?;
        let noisy = whole.release(&guarantee.noise, self.summand.unit(), source)?;
        Ok(ReleasedMoments::new(&design, &noisy))
    }

    /// A simulation of a release, with floating-point noise of a seeded stream; the moments themselves without privacy.
    pub(crate) fn simulated(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> Result<SimulatedMoments, TaskError> {
        let DesignedNoise { design, guarantee } = self.designed(sums, cell)?;
        let exact = WholeMoments::new(&design, &sums.counted())?.real(self.summand.unit());
        let free = cell.epsilon.is_unprotected();
        let noise = &guarantee.noise;
        let noisy = if free { noise.stated(exact) } else { noise.release(&exact, stream) };
        let sampled = Sampled::Moments(MomentsRelease {
            weighted: design.frequencies.clone(),
            plain: design.pairs.clone(),
            noise: noise.clone(),
            period: design.period,
            bound: design.rule.bound(),
            counts: Vec::new(),
        });
        Ok(SimulatedMoments { released: ReleasedMoments::new(&design, &noisy), guarantee, sampled })
    }

    /// The moments as they are in whole numbers, in the order of a file; never to be shown.
    ///
    /// # Errors
    /// [`TaskError`] as for a release.
    pub fn exact(&self, sums: &LatticeSums, cell: &PrivacySetting) -> Result<Vec<f64>, TaskError> {
        let DesignedNoise { design, .. } = self.designed(sums, cell)?;
        let exact = WholeMoments::new(&design, &sums.counted())?.real(self.summand.unit());
        let mut numbers: Vec<f64> = exact.weighted.iter().chain(exact.plain.iter()).copied().collect();
        numbers.push(exact.squares);
        numbers.extend(design.counted.then_some(sums.rows as f64));
        Ok(numbers)
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    ///
    /// # Errors
    /// [`TaskError`] if no design can be computed.
    pub fn guarantee(
        &self,
        sums: &LatticeSums,
        cell: &PrivacySetting,
    ) -> Result<MomentsGuarantee, TaskError> {
        Ok(self.designed(sums, cell)?.guarantee)
    }

    /// The moments of least expected error for the noise of a cell.
    ///
    /// Obligation: it depends on the number of rows where that is public, and on the spec.
    fn designed(&self, sums: &LatticeSums, cell: &PrivacySetting) -> Result<DesignedNoise, TaskError> {
        let (rows, sigma) = (self.known_rows(sums.rows as usize), self.sigma(cell));
        let key = DesignKey { rows, sigma };
        let design = self.designs.or_new(key, || self.design(&self.reference(rows)?, sigma))?;
        let noise = design.lattice_noise(sigma);
        let sensitivity = design.lattice_sensitivity() * self.unit.records() as f64;
        let certificate = certificate(cell).about(self.unit.clone());
        let certificate = match cell.epsilon.is_unprotected() {
            true => certificate,
            false => certificate.with_caveats(&[(Caveat::PrivateFilter, self.filtered)]),
        };
        let record = RoundedNoise { sensitivity, sd: noise.scale };
        Ok(DesignedNoise { design, guarantee: MomentsGuarantee { noise, certificate, record } })
    }

    /// The public number of rows: that of the spec, where theirs is private.
    pub(super) fn known_rows(&self, rows: usize) -> usize {
        self.mechanism.rows.map_or(rows, |rows| rows.get())
    }

    /// The noise over the sensitivity of one row. The rows of a person move the moments as far as each of them does, all together.
    pub(super) fn sigma(&self, cell: &PrivacySetting) -> f64 {
        sigma(cell).max(LEAST_SIGMA) * self.unit.records() as f64
    }

    pub(super) fn design(&self, reference: &SiteReference, sigma: f64) -> Result<MomentsDesign, TaskError> {
        let design = MomentsDesign::least_risk(reference, sigma, &self.periods())?;
        Ok(MomentsDesign { counted: self.mechanism.rows.is_some(), ..design })
    }

    /// What no design has a smaller risk than.
    pub(super) fn lower_bound(&self, reference: &SiteReference, sigma: f64) -> Result<f64, TaskError> {
        Ok(MomentsDesign::lower_bound(reference, sigma, &self.periods())?)
    }

    /// The periods that designs choose from, on the lattice.
    fn periods(&self) -> Vec<f64> {
        let periods = self.mechanism.period.map_or(MomentsDesign::PERIODS.to_vec(), |period| vec![period]);
        periods.iter().map(|period| self.summand.lattice.period(*period)).collect()
    }

    pub(super) fn reference(&self, rows: usize) -> Result<SiteReference, TaskError> {
        reference(&self.model, &self.mechanism, rows)
    }
}

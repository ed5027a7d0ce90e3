//! The error of a surface from noisy moments, and its distance from the one without privacy.

use nalgebra::DMatrix;

use super::measure::{METRICS, SurfaceScores};
use crate::against_constant::against_constant;
use crate::{Frame, Job, Measured, Sampled, SurfaceTask, TaskError};
use dpgp_gp::sites::{CountedRows, Lattice, SiteMixture, site_grid};
use dpgp_mechanisms::MomentsModel;
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::SimulatedMoments;
use dpgp_number::Epsilon;
use dpgp_stream::LatticeSums;

/// What all cells of a block share.
pub(super) struct MomentsBlock<'a> {
    task: &'a SurfaceTask,
    job: &'a Job<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    rows: CountedRows,
    /// The middle of each cell that holds rows (c x d), in units of the inputs.
    places: DMatrix<f64>,
    /// The surface without privacy there, in units of the target.
    exact: Vec<f64>,
    /// Where the size of the noise is looked at.
    spots: NoiseSpots,
}

/// Points that stand for rows.
struct NoiseSpots {
    /// The points (k x d), in units of the inputs.
    points: DMatrix<f64>,
    /// The rows near each.
    rows: Vec<f64>,
}

/// The most cells at which the noise on an additive surface is looked at.
const SPOTS: usize = 2048;

impl<'a> MomentsBlock<'a> {
    pub fn new(task: &'a SurfaceTask, job: &'a Job<'a>) -> Result<Self, TaskError> {
        let model =
            MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a model of moments" })?;
        let sums = model.sums(job.sample.columns())?;
        let rows = sums.counted();
        let (domain, middles) = (&model.summand().domain, rows.cells.iter());
        let middles = middles.flat_map(|cell| rows.lattice.midpoint(cell.place)).collect::<Vec<f64>>();
        let middles = DMatrix::from_row_slice(rows.cells.len(), domain.len(), &middles);
        let places = in_units(&middles, domain);
        let spots = match model.is_additive() {
            true => NoiseSpots::of_cells(&rows, &places),
            false => NoiseSpots::of_sites(&rows, domain),
        };
        let mut block = Self { task, job, model, sums, rows, places, exact: Vec::new(), spots };
        let free = PrivacySetting { epsilon: Epsilon::NONE, ..job.setting.privacy.as_ref().clone() };
        let SimulatedMoments { released, .. } =
            block.model.simulated(&block.sums, &free, &mut job.streams.of_block("noise"))?;
        block.exact = block.surface(&block.model.posterior(&released)?);
        Ok(block)
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let mut stream = self.job.streams.of_block("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulated(&self.sums, cell, &mut stream)?;
        let posterior = self.model.posterior(&released)?;
        let noise = if cell.epsilon.is_unprotected() { 0.0 } else { self.noise(&posterior)? };
        let scores = self.scores(&posterior, noise);
        let certified = self.job.certify(guarantee.certificate, || vec![Sampled::Moments(sampled)])?;
        Ok(certified.scored(0.0, &METRICS, &scores).with_frames(self.frames(&posterior)?))
    }

    /// Means at the places of rows.
    fn surface(&self, posterior: &SiteMixture) -> Vec<f64> {
        self.model.means(posterior, &self.places)
    }

    /// Rows enter by their cells alone: with the sum s of the targets of a cell and the surface f there, its rows add
    /// `sum y^2 - 2 s f + n f^2` to the squared error.
    fn scores(&self, posterior: &SiteMixture, noise_sd: f64) -> SurfaceScores {
        let surface = self.surface(posterior);
        let (targets, rows) = (&self.model.summand().targets, self.sums.rows.max(1) as f64);
        let unit = self.model.summand().unit();
        let squares = self.sums.squares as f64 * unit * unit;
        let (mut errors, mut apart, mut sum) = (squares, 0.0, 0.0);
        for ((cell, mean), exact) in self.rows.cells.iter().zip(&surface).zip(&self.exact) {
            let (count, value) = (cell.rows as f64, (mean - targets.centre) / targets.scale);
            errors += value * (count * value - 2.0 * cell.targets as f64 * unit);
            apart += count * (mean - exact).powi(2);
            sum += cell.targets as f64 * unit;
        }
        // The difference of two numbers that rounding leaves of equal ones is none.
        let around = squares - sum * sum / rows;
        let rounding = (self.rows.cells.len() as f64 + 4.0) * f64::EPSILON * squares;
        let r2 = against_constant(errors.max(0.0), if around <= rounding { 0.0 } else { around });
        let rmse = targets.scale * (errors.max(0.0) / rows).sqrt();
        let (difference, clipped) = ((apart / rows).sqrt(), self.sums.clipped as f64 / rows);
        SurfaceScores { rmse, r2, difference, noise_sd, rows: self.sums.rows as f64, clipped }
    }

    /// The root mean square of what the noise adds, at points that stand for rows.
    fn noise(&self, posterior: &SiteMixture) -> Result<f64, TaskError> {
        let sds = self.model.predict(posterior, &self.spots.points)?.noise_sd;
        let squares: f64 = self.spots.rows.iter().zip(sds).map(|(count, sd)| count * sd * sd).sum();
        Ok((squares / self.spots.rows.iter().sum::<f64>().max(1.0)).sqrt())
    }

    fn frames(&self, posterior: &SiteMixture) -> Result<Vec<Frame>, TaskError> {
        let map = self.task.points_of_map();
        if map.nrows() == 0 {
            return Ok(Vec::new());
        }
        let shown = self.task.map.len();
        let prediction = self.model.predict(posterior, &map)?;
        let sds =
            prediction.model_sd.iter().zip(&prediction.noise_sd).map(|(model, noise)| model.hypot(*noise));
        let frame = Frame::new(if shown == 1 { "curve" } else { "map" })
            .with_points(&map.columns(0, shown).into_owned())
            .with("mean", prediction.mean.iter().copied())
            .with("gp-sd", sds)
            .with("noise-sd", prediction.noise_sd.iter().copied());
        Ok(vec![frame])
    }
}

/// Points of the unit box in units of the inputs.
fn in_units(points: &DMatrix<f64>, domain: &[[f64; 2]]) -> DMatrix<f64> {
    DMatrix::from_fn(points.nrows(), points.ncols(), |row, column| {
        let [low, high] = domain[column];
        low + (high - low) * points[(row, column)]
    })
}

impl NoiseSpots {
    /// The sites, each for the rows of all cells in its part of the box.
    fn of_sites(rows: &CountedRows, domain: &[[f64; 2]]) -> Self {
        let sites = site_grid(domain.len());
        let side = (sites.nrows() as f64).powf(1.0 / domain.len() as f64).round();
        let lattice = Lattice::new(side as usize, domain.len());
        let mut near = vec![0.0; lattice.len()];
        for cell in &rows.cells {
            near[lattice.place(&rows.lattice.midpoint(cell.place))] += cell.rows as f64;
        }
        Self { points: in_units(&sites, domain), rows: near }
    }

    /// Cells themselves, one in so many: sites that are scattered have no parts of the box.
    fn of_cells(rows: &CountedRows, places: &DMatrix<f64>) -> Self {
        let each = rows.cells.len().div_ceil(SPOTS).max(1);
        let chosen: Vec<usize> = (0..rows.cells.len()).step_by(each).collect();
        let near = chosen.iter().map(|cell| rows.cells[*cell].rows as f64).collect();
        Self { points: places.select_rows(&chosen), rows: near }
    }
}

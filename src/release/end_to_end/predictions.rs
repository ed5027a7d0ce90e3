//! The attack on predictions.

use nalgebra::{DMatrix, DVector};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{EndToEndCheck, PairedRelease, replaced_rows};
use crate::audit::AuditVerdict;
use crate::data::Progress;
use crate::privacy::Neighbours;
use crate::release::exceptions::{refuse_exceptions, warnings};
use crate::release::{PredictionRequest, ReleaseError};
use crate::run::{Project, data_caveats};
use crate::setting::NormaliseSetting;
use crate::task::{Predictions, PreparedRelease, Sample};

/// Draws for each point, and the least number of them.
const DRAWS: usize = 8;
const LEAST: usize = 1200;

impl PredictionRequest<'_> {
    /// Attacks the release of this request: records are replaced by extremes, and what would be written is compared.
    ///
    /// # Errors
    /// [`ReleaseError`] as of [`PredictionRequest::draw`]: a release that is refused cannot be attacked.
    pub fn attack(
        &self,
        project: &Project,
        progress: &dyn Progress,
        seed: u64,
    ) -> Result<Vec<EndToEndCheck>, ReleaseError> {
        let release = self.releasable(self.sample())?;
        let mut checks = self.caveats(&release, project, progress);
        let before = release.draw(&mut Pcg64::seed_from_u64(seed))?;
        let (mut differences, mut same) = (Vec::new(), true);
        for neighbour in self.neighbours(release.certificate.neighbours) {
            let after = self.releasable(&neighbour)?.draw(&mut Pcg64::seed_from_u64(seed))?;
            same &=
                bits(&after.gp_sd) == bits(&before.gp_sd) && bits(&after.noise_sd) == bits(&before.noise_sd);
            differences.push(DVector::from_vec(after.mean) - DVector::from_column_slice(&before.mean));
        }
        // Where whole records are private, all columns follow from noisy sums, and none is public.
        if let Some(Neighbours::OneTargetChanges(_)) = release.certificate.neighbours {
            checks.push(EndToEndCheck::of_public(same, "the columns gp_sd and noise_sd"));
            checks.push(self.distances(&release, &differences, seed)?);
        }
        checks.extend(finite(&before));
        Ok(checks)
    }

    /// What the claim excepts, and what data and settings leave open.
    fn caveats(
        &self,
        release: &PreparedRelease,
        project: &Project,
        progress: &dyn Progress,
    ) -> Vec<EndToEndCheck> {
        let mut notes: Vec<String> = release.certificate.caveats.iter().map(ToString::to_string).collect();
        notes.extend(warnings(&release.certificate));
        let refused = refuse_exceptions(&release.certificate, self.rows(), false);
        notes.extend(refused.err().map(|error| error.to_string()).filter(|_| notes.is_empty()));
        notes.extend(data_caveats(self.experiment(), project, self.setting(), self.sample(), progress));
        notes.into_iter().map(|note| EndToEndCheck::new(AuditVerdict::Caveat, note)).collect()
    }

    /// The largest distance of the neighbours, against the claim.
    fn distances(
        &self,
        release: &PreparedRelease,
        differences: &[DVector<f64>],
        seed: u64,
    ) -> Result<EndToEndCheck, ReleaseError> {
        let points = differences.first().map_or(0, DVector::len);
        let number = LEAST.max(DRAWS * points);
        let mut source = Pcg64::seed_from_u64(seed + 1);
        let mut draws = DMatrix::zeros(points, number);
        for mut draw in draws.column_iter_mut() {
            draw.copy_from_slice(&release.draw(&mut source)?.mean);
        }
        let claimed = release.noise.mu();
        let pairs = differences.len();
        let Ok(paired) = PairedRelease::new(draws) else {
            return Ok(EndToEndCheck::of_distance(f64::INFINITY, claimed, 0.0, pairs));
        };
        let found = differences.iter().map(|difference| paired.distance(difference)).fold(0.0, f64::max);
        // Five standard errors of a standard deviation from half of the draws.
        Ok(EndToEndCheck::of_distance(found, claimed, 5.0 / (number as f64).sqrt(), pairs))
    }

    /// The sample with one record replaced, or all of one person, for some rows and all ways to replace them.
    fn neighbours(&self, relation: Option<Neighbours>) -> Vec<Sample> {
        let sample = self.sample();
        let mut neighbours = Vec::new();
        for row in replaced_rows(sample.rows()) {
            for way in 0..self.extremes(relation, 0.0).len() {
                let mut neighbour = sample.clone();
                for row in sample.rows_with(row) {
                    neighbour.targets[row] = self.extremes(relation, sample.targets[row])[way];
                }
                neighbours.push(neighbour);
            }
        }
        neighbours
    }

    /// Targets at both ends of what a neighbour may have: beyond the bounds, where a clip must hold them.
    fn extremes(&self, relation: Option<Neighbours>, target: f64) -> Vec<f64> {
        let NormaliseSetting::Bounds { low, high, .. } = *self.setting().normalise else { return Vec::new() };
        let width = high.get() - low.get();
        match relation {
            // A metric: the target may move by less than the width.
            Some(Neighbours::OneTargetChanges(change)) if change < width => {
                vec![target - change, target + change]
            }
            _ => vec![low.get() - 1e6 * width, high.get() + 1e6 * width, f64::MAX],
        }
    }
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Numbers that are none would show which rows are extreme.
fn finite(predictions: &Predictions) -> Option<EndToEndCheck> {
    let all = predictions.mean.iter().chain(&predictions.gp_sd).chain(&predictions.noise_sd);
    let broken = all.into_iter().any(|number| !number.is_finite());
    broken.then(|| EndToEndCheck::new(AuditVerdict::Broken, "a released number is not finite".to_owned()))
}

//! The attacks on predictions, sums and counts.

use std::path::PathBuf;

use nalgebra::{DMatrix, DVector};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde_json::Value;

use super::AttackDrawSetting;
use super::neighbours::evenly_spaced_rows;
use super::releases::NeighbourOutputs;
use super::{EndToEndCheck, NeighbourDistanceEstimator};
use crate::certificate_file::has_averaged_hyperparameters;
use crate::draw::ReleaseGuarantee;
use crate::exceptions::{large_epsilon_warning, refuse_exceptions_or_large_delta};
use crate::sum_rows::{RowsInMemory, read_all_rows};
use crate::sums_model::{NoisyNumber, SumsOf, SumsReleaseMethod};
use crate::{PlannedSumsRelease, PredictionRequest, ReleaseError};
use dpgp_accounting::{Guarantee, Neighbours};
use dpgp_audit::MechanismOutputs;
use dpgp_claim_audit::AuditVerdict;
use dpgp_data::Progress;
use dpgp_data::rows::InMemoryRows;
use dpgp_mechanisms::PrivacySetting;
use dpgp_run::{Project, target_guarantee_caveats};
use dpgp_stream::sum_rows_serially;
use dpgp_task::{Predictions, Sample, UnnoisedRelease};

/// Draws for each point, and the least number of them.
const DRAWS: usize = 8;
const LEAST: usize = 1200;

/// The columns of a file with noise: if only the predictions have noise, and if all columns follow from noisy numbers.
const NOISY: [&[&str]; 2] = [&["private_mean"], &["private_mean", "gp_sd", "noise_sd"]];

/// The release of data in which one record is replaced.
struct NeighbourRelease {
    release: UnnoisedRelease,
    /// Of the predictions, with the stream of noise that those of the data have.
    difference: DVector<f64>,
    /// The most that rounding has added to it.
    rounding: DVector<f64>,
    /// Whether the other columns are the same.
    same: bool,
}

impl PredictionRequest<'_> {
    /// Attacks the release of this request: replaces records with extreme ones and compares the output.
    ///
    /// # Errors
    /// [`ReleaseError`] as of [`PredictionRequest::design_release`]: a release that is refused cannot be attacked.
    pub fn attack(
        &self,
        project: &Project,
        progress: &dyn Progress,
        draws: AttackDrawSetting,
    ) -> Result<Vec<EndToEndCheck>, ReleaseError> {
        let seed = draws.seed;
        let release = self.prepare_release(self.sample())?;
        let mut checks = self.caveat_checks(&release, project, progress);
        let before = release.draw(&mut Pcg64::seed_from_u64(seed))?;
        let mut neighbours = Vec::new();
        for sample in self.neighbouring_samples(release.certificate.neighbours) {
            match self.release_neighbour(&sample, &before, seed) {
                Ok(neighbour) => neighbours.push(neighbour),
                Err(error) => checks.push(EndToEndCheck::from_failure(&error)),
            }
        }
        // Where whole records are private, all columns follow from noisy sums: none is public, and they are not as far
        // apart as noise on them is large.
        if let Some(Neighbours::OneTargetChanges(_)) = release.certificate.neighbours {
            if has_averaged_hyperparameters(self.setting()) {
                checks.push(check_exact_neighbour_distances(&release, &neighbours));
            } else {
                let same = neighbours.iter().all(|neighbour| neighbour.same);
                checks.push(EndToEndCheck::from_public_equality(same, "the columns gp_sd and noise_sd"));
                checks.push(self.check_neighbour_distances(&release, &neighbours, seed)?);
            }
        }
        checks.extend(self.attack_furthest_neighbour(&release, &neighbours, draws)?);
        Ok(checks)
    }

    /// The release of a neighbour, with the stream of noise that the data have.
    fn release_neighbour(
        &self,
        sample: &Sample,
        before: &Predictions,
        seed: u64,
    ) -> Result<NeighbourRelease, ReleaseError> {
        let release = self.prepare_release(sample)?;
        let after = release.draw(&mut Pcg64::seed_from_u64(seed))?;
        let same = float_bits(&after.gp_sd) == float_bits(&before.gp_sd)
            && float_bits(&after.noise_sd) == float_bits(&before.noise_sd);
        let rounding = DVector::from_fn(after.mean.len(), |i, _| float_spacing(after.mean[i], before.mean[i]));
        let difference = DVector::from_vec(after.mean) - DVector::from_column_slice(&before.mean);
        Ok(NeighbourRelease { release, difference, rounding, same })
    }

    /// Exceptions to the claim, and limits from data and settings.
    fn caveat_checks(
        &self,
        release: &UnnoisedRelease,
        project: &Project,
        progress: &dyn Progress,
    ) -> Vec<EndToEndCheck> {
        let mut notes: Vec<String> = release.certificate.caveats.iter().map(ToString::to_string).collect();
        notes.extend(large_epsilon_warning(&release.certificate));
        let refused = refuse_exceptions_or_large_delta(&release.certificate, self.public_row_count(), false);
        notes.extend(refused.err().map(|error| error.to_string()).filter(|_| notes.is_empty()));
        notes.extend(target_guarantee_caveats(self.experiment(), project, self.setting(), self.sample(), progress));
        notes.into_iter().map(|note| EndToEndCheck::new(AuditVerdict::Caveat, note)).collect()
    }

    /// The largest distance of the neighbours, against the claim.
    fn check_neighbour_distances(
        &self,
        release: &UnnoisedRelease,
        neighbours: &[NeighbourRelease],
        seed: u64,
    ) -> Result<EndToEndCheck, ReleaseError> {
        let points = neighbours.first().map_or(0, |neighbour| neighbour.difference.len());
        let number = LEAST.max(DRAWS * points);
        let mut source = Pcg64::seed_from_u64(seed + 1);
        let mut draws = DMatrix::zeros(points, number);
        for mut draw in draws.column_iter_mut() {
            draw.copy_from_slice(&release.draw(&mut source)?.mean);
        }
        let (claimed, pairs) = (release.noise.gdp_mu(), neighbours.len());
        let Ok(paired) = NeighbourDistanceEstimator::new(draws) else {
            return Ok(EndToEndCheck::from_distance(f64::INFINITY, claimed, 0.0, pairs));
        };
        let distances = neighbours.iter().map(|neighbour| paired.distance(&neighbour.difference, &neighbour.rounding));
        let found = distances.fold(0.0, f64::max);
        let moved = neighbours.iter().any(|neighbour| neighbour.difference.amax() > 0.0);
        if found == 0.0 && moved {
            let note = "predictions differ by no more than their rounding, so no distance could be measured";
            return Ok(EndToEndCheck::new(AuditVerdict::NotAudited, note.to_owned()));
        }
        // Five standard errors of a standard deviation from half of the draws.
        Ok(EndToEndCheck::from_distance(found, claimed, 5.0 / (number as f64).sqrt(), pairs))
    }

    /// Releases of the data and of the neighbour that differs most, as files.
    fn attack_furthest_neighbour(
        &self,
        release: &UnnoisedRelease,
        neighbours: &[NeighbourRelease],
        draws: AttackDrawSetting,
    ) -> Result<Vec<EndToEndCheck>, ReleaseError> {
        let furthest = neighbours.iter().max_by(|one, other| one.difference.norm().total_cmp(&other.difference.norm()));
        let Some((furthest, claim)) = furthest.zip(release.certificate.guarantee) else {
            return Ok(Vec::new());
        };
        let outputs = [self.sample_outputs(release, draws)?, self.sample_outputs(&furthest.release, draws)?];
        let exact = release.noiseless_predictions().zip(furthest.release.noiseless_predictions());
        let exact = exact.map(|(one, other)| [one, other]);
        Ok(NeighbourOutputs { outputs, exact, stated: None }.check_claim(claim))
    }

    /// Releases with noise of the operating system, read from their files.
    fn sample_outputs(
        &self,
        release: &UnnoisedRelease,
        draws: AttackDrawSetting,
    ) -> Result<MechanismOutputs, ReleaseError> {
        let hides_inputs = matches!(release.certificate.neighbours, Some(Neighbours::OneRecord(_)));
        let names = NOISY[usize::from(hides_inputs || has_averaged_hyperparameters(self.setting()))];
        let (mut numbers, mut width, mut made) = (Vec::new(), 1, 0);
        while made < draws.release_count(width) {
            let charged = self.uncharged_release(release.clone())?.charge(None, &self.release_spec(), None)?.draw()?;
            let read = read_csv_numbers(&charged.predictions_csv()?, names)?;
            (width, made) = (read.len(), made + 1);
            numbers.extend(read);
        }
        Ok(MechanismOutputs::new(width, numbers))
    }
}

/// The largest distance of the neighbours by the released numbers themselves, in standard deviations of their noise, against the claim.
/// What hyperparameters make of them is not linear.
fn check_exact_neighbour_distances(release: &UnnoisedRelease, neighbours: &[NeighbourRelease]) -> EndToEndCheck {
    let before = release.noiseless_release_in_noise_sds();
    let apart = |neighbour: &NeighbourRelease| {
        let after = neighbour.release.noiseless_release_in_noise_sds();
        before
            .as_ref()
            .zip(after)
            .filter(|(one, other)| one.len() == other.len())
            .map_or(f64::INFINITY, |(one, other)| {
                one.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
            })
    };
    let found = neighbours.iter().map(apart).fold(0.0, f64::max);
    EndToEndCheck::from_distance(found, release.noise.gdp_mu(), TOLERANCE, neighbours.len())
}

/// The numbers of some columns of a file.
fn read_csv_numbers(text: &str, names: &[&str]) -> Result<Vec<f64>, csv::Error> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers()?.clone();
    let mut numbers = Vec::new();
    for record in reader.records() {
        let record = record?;
        for (_, cell) in headers.iter().zip(&record).filter(|(name, _)| names.contains(name)) {
            numbers.push(cell.parse().unwrap_or(f64::NAN));
        }
    }
    Ok(numbers)
}

/// Of doubles around two numbers: each is rounded by half of it, and a difference by both.
fn float_spacing(one: f64, other: f64) -> f64 {
    let greater = one.abs().max(other.abs());
    greater.next_up() - greater
}

fn float_bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// The relative error of distances: released numbers are doubles of whole numbers.
const TOLERANCE: f64 = 1e-6;

impl<M: SumsReleaseMethod> PlannedSumsRelease<'_, M> {
    /// Attacks a release of the rows of these files with the privacy that the spec states: records are replaced by
    /// extremes, and what would be written is compared. The noise that hides the difference is that which the file states.
    ///
    /// # Errors
    /// [`ReleaseError`] if rows cannot be read, or their release fails.
    pub fn attack(&self, files: &[PathBuf], draws: AttackDrawSetting) -> Result<Vec<EndToEndCheck>, ReleaseError> {
        self.without_postprocessing().run_attack(files, &self.resolve_privacy_setting(None)?, draws)
    }

    fn run_attack(
        &self,
        files: &[PathBuf],
        privacy: &PrivacySetting,
        draws: AttackDrawSetting,
    ) -> Result<Vec<EndToEndCheck>, ReleaseError> {
        let held = read_all_rows(files, &self.setting().data)?;
        if held.row_count() == 0 {
            return Err(ReleaseError::NoRows(files.first().cloned().unwrap_or_default()));
        }
        let before = self.simulate_release(&held, privacy, draws.seed)?;
        let (mut largest, mut pairs, mut same, mut furthest) = (-1.0f64, 0, true, None);
        for row in evenly_spaced_rows(held.row_count()) {
            for neighbour in self.neighbours_by_replacing_row(&held, row) {
                let after = match self.simulate_release(&neighbour, privacy, draws.seed) {
                    Ok(after) => after,
                    Err(error) => return Ok(vec![EndToEndCheck::from_failure(&error)]),
                };
                (same, pairs) = (same && before.public == after.public, pairs + 1);
                let apart = mahalanobis_distance(&before.numbers, &after.numbers);
                // What is no number is as far as can be.
                if apart.is_nan() || apart > largest {
                    (largest, furthest) = (apart, Some(after.sums));
                }
            }
        }
        let mut checks = vec![
            EndToEndCheck::from_public_equality(same, "all fields except noisy sums and numbers computed from them"),
            EndToEndCheck::from_distance(largest, before.mu, TOLERANCE, pairs),
        ];
        if let Some((furthest, claim)) = furthest.zip(before.claim) {
            let stated = before.numbers.clone();
            let outputs =
                [self.sample_outputs(&before.sums, privacy, draws)?, self.sample_outputs(&furthest, privacy, draws)?];
            let exact =
                [self.method().exact_numbers(privacy, &before.sums)?, self.method().exact_numbers(privacy, &furthest)?];
            let releases = NeighbourOutputs { outputs, exact: Some(exact), stated: Some(stated) };
            checks.extend(releases.check_claim(claim));
        }
        Ok(checks)
    }

    /// The rows with one of them replaced, or all of its person, in all ways.
    fn neighbours_by_replacing_row(&self, held: &RowsInMemory, row: usize) -> Vec<RowsInMemory> {
        let mut neighbours = vec![held.clone(); self.record_replacements(&held.record(row)).len()];
        for row in held.rows_of_same_person(row) {
            let ways = self.record_replacements(&held.record(row));
            for (neighbour, replaced) in neighbours.iter_mut().zip(ways) {
                neighbour.columns.iter_mut().zip(&replaced).for_each(|(column, value)| column[row] = *value);
            }
        }
        neighbours
    }

    /// Replacements of a record. If rows with missing cells are dropped, one replacement lacks all cells.
    fn record_replacements(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let mut ways = self.method().extreme_replacements(record);
        if self.setting().data.drops_missing() && self.method().neighbour_may_lack_whole_row() {
            ways.push(vec![f64::NAN; record.len()]);
        }
        ways
    }

    /// What would be written of these rows, with noise of a stream that is the same for all.
    fn simulate_release(
        &self,
        held: &RowsInMemory,
        privacy: &PrivacySetting,
        seed: u64,
    ) -> Result<SimulatedRelease<SumsOf<M>>, ReleaseError> {
        let columns = held.columns_with_kept_row_flags(&self.setting().data);
        let mut rows = InMemoryRows::new(columns.iter().map(Vec::as_slice).collect());
        let sums = sum_rows_serially(&mut rows, self.method().summand())?.sums;
        let mut stream = Pcg64::seed_from_u64(seed);
        let ReleaseGuarantee { certificate, noise } = self.method().release_guarantee(privacy, &sums)?;
        let mut public = self.method().draw_release(self.setting(), privacy, &sums, &mut stream)?;
        let numbers = self.method().noisy_numbers(&public);
        if let Value::Object(fields) = &mut public {
            M::NOISY.iter().for_each(|name| drop(fields.remove(*name)));
        }
        Ok(SimulatedRelease { sums, numbers, public, mu: noise.gdp_mu(), claim: certificate.guarantee })
    }

    /// Releases with noise of the operating system, read from their files.
    fn sample_outputs(
        &self,
        sums: &SumsOf<M>,
        privacy: &PrivacySetting,
        draws: AttackDrawSetting,
    ) -> Result<MechanismOutputs, ReleaseError> {
        let (mut numbers, mut width, mut made) = (Vec::new(), 1, 0);
        while made < draws.release_count(width) {
            let charged =
                self.uncharged_release(sums, privacy)?.charge(None, &self.release_spec(privacy), None)?.draw()?;
            // The very digits of the file.
            let file = serde_json::from_str(&charged.json().to_string()).unwrap_or(Value::Null);
            let read = self.method().noisy_numbers(&file);
            (width, made) = (read.len(), made + 1);
            numbers.extend(read.iter().map(|noisy| noisy.number));
        }
        Ok(MechanismOutputs::new(width, numbers))
    }
}

/// The visible part of a release.
struct SimulatedRelease<S> {
    /// Before their noise.
    sums: S,
    /// Each with noise of its own.
    numbers: Vec<NoisyNumber>,
    /// All else.
    public: Value,
    /// As claimed.
    mu: f64,
    claim: Option<Guarantee>,
}

/// In standard deviations of independent noise.
fn mahalanobis_distance(one: &[NoisyNumber], other: &[NoisyNumber]) -> f64 {
    let pairs = one.iter().zip(other);
    pairs.map(|(x, y)| ((x.number - y.number) / x.sd).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_noisy_columns() {
        let text = "x,private_mean,gp_sd\n1,2.5,3\n4,-1,6\n";
        assert_eq!(read_csv_numbers(text, NOISY[0]).unwrap(), [2.5, -1.0]);
        assert_eq!(read_csv_numbers(text, NOISY[1]).unwrap(), [2.5, 3.0, -1.0, 6.0]);
        assert!(read_csv_numbers("x,private_mean\n1,none\n", NOISY[0]).unwrap()[0].is_nan());
    }

    /// Doubles from 1/2 to 1 are 2^-53 apart, those from 2 to 4 2^-51.
    #[test]
    fn doubles_are_spaced_as_around_the_greater() {
        for (one, other, exponent) in [(0.5, 0.25, -53), (-0.25, 0.5, -53), (1.0, -2.0, -51), (3.0, 0.0, -51)] {
            assert_eq!(float_spacing(one, other), 2f64.powi(exponent), "{one} {other}");
        }
    }

    #[test]
    fn zeros_of_two_signs_are_two_numbers() {
        assert_eq!(float_bits(&[0.0, -0.0, 2.0]), [0, 1 << 63, 1 << 62]);
    }
}

//! The attack on sums and counts.

use std::path::PathBuf;

use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde_json::Value;

use super::EndToEndCheck;
use super::neighbours::replaced_rows;
use super::releases::{Releases, releases};
use crate::draw::Guaranteed;
use crate::person_rows::{HeldRows, all_rows};
use crate::sums_model::{NoisyNumber, SumsModel, SumsOf};
use crate::{ReleaseError, Streamed};
use dpgp_accounting::Guarantee;
use dpgp_audit::Outputs;
use dpgp_data::rows::InMemory;
use dpgp_mechanisms::PrivacySetting;
use dpgp_stream::collect_here;

/// The relative error of distances: released numbers are doubles of whole numbers.
const TOLERANCE: f64 = 1e-6;

impl<M: SumsModel> Streamed<'_, M> {
    /// Attacks a release of the rows of these files: records are replaced by extremes, and what would be written is
    /// compared. The noise that hides the difference is that which the file states.
    ///
    /// # Errors
    /// [`ReleaseError`] if rows cannot be read, or their release fails.
    pub fn attack(
        &self,
        files: &[PathBuf],
        privacy: &PrivacySetting,
        seed: u64,
    ) -> Result<Vec<EndToEndCheck>, ReleaseError> {
        self.bare().attacked(files, privacy, seed)
    }

    fn attacked(
        &self,
        files: &[PathBuf],
        privacy: &PrivacySetting,
        seed: u64,
    ) -> Result<Vec<EndToEndCheck>, ReleaseError> {
        let held = all_rows(files, &self.setting().data)?;
        if held.rows() == 0 {
            return Err(ReleaseError::NoRows(files.first().cloned().unwrap_or_default()));
        }
        let before = self.seen(&held, privacy, seed)?;
        let (mut largest, mut pairs, mut same, mut furthest) = (-1.0f64, 0, true, None);
        for row in replaced_rows(held.rows()) {
            for neighbour in self.replaced(&held, row) {
                let after = match self.seen(&neighbour, privacy, seed) {
                    Ok(after) => after,
                    Err(error) => return Ok(vec![EndToEndCheck::of_failure(&error)]),
                };
                (same, pairs) = (same && before.public == after.public, pairs + 1);
                let apart = distance(&before.numbers, &after.numbers);
                // What is no number is as far as can be.
                if apart.is_nan() || apart > largest {
                    (largest, furthest) = (apart, Some(after.sums));
                }
            }
        }
        let mut checks = vec![
            EndToEndCheck::of_public(same, "all but noisy sums and what follows from them"),
            EndToEndCheck::of_distance(largest, before.mu, TOLERANCE, pairs),
        ];
        if let Some((furthest, claim)) = furthest.zip(before.claim) {
            let stated = before.numbers.clone();
            let outputs = [self.outputs(&before.sums, privacy)?, self.outputs(&furthest, privacy)?];
            let exact = [
                self.model().exact_numbers(privacy, &before.sums)?,
                self.model().exact_numbers(privacy, &furthest)?,
            ];
            let releases = Releases { outputs, exact: Some(exact), stated: Some(stated) };
            checks.extend(releases.checks(claim));
        }
        Ok(checks)
    }

    /// The rows with one of them replaced, or all of its person, in all ways.
    fn replaced(&self, held: &HeldRows, row: usize) -> Vec<HeldRows> {
        let mut neighbours = vec![held.clone(); self.ways(&held.record(row)).len()];
        for row in held.rows_with(row) {
            let ways = self.ways(&held.record(row));
            for (neighbour, replaced) in neighbours.iter_mut().zip(ways) {
                neighbour.columns.iter_mut().zip(&replaced).for_each(|(column, value)| column[row] = *value);
            }
        }
        neighbours
    }

    /// What a record may be replaced by: where missing cells leave rows out, also by one that lacks all.
    fn ways(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let mut ways = self.model().replaced(record);
        if self.setting().data.drops_missing() && self.model().protects_rows() {
            ways.push(vec![f64::NAN; record.len()]);
        }
        ways
    }

    /// What would be written of these rows, with noise of a stream that is the same for all.
    fn seen(
        &self,
        held: &HeldRows,
        privacy: &PrivacySetting,
        seed: u64,
    ) -> Result<Seen<SumsOf<M>>, ReleaseError> {
        let columns = held.marked(&self.setting().data);
        let mut rows = InMemory::new(columns.iter().map(Vec::as_slice).collect());
        let sums = collect_here(&mut rows, self.model().rows())?.sums;
        let mut stream = Pcg64::seed_from_u64(seed);
        let Guaranteed { certificate, noise } = self.model().guaranteed(privacy, &sums)?;
        let mut public = self.model().noisy(self.setting(), privacy, &sums, &mut stream)?;
        let numbers = self.model().noisy_numbers(&public);
        if let Value::Object(fields) = &mut public {
            M::NOISY.iter().for_each(|name| drop(fields.remove(*name)));
        }
        Ok(Seen { sums, numbers, public, mu: noise.mu(), claim: certificate.guarantee })
    }

    /// Releases with noise of the operating system, read from their files.
    fn outputs(&self, sums: &SumsOf<M>, privacy: &PrivacySetting) -> Result<Outputs, ReleaseError> {
        let (mut numbers, mut width, mut made) = (Vec::new(), 1, 0);
        while made < releases(width) {
            let charged = self.offer_of(sums, privacy)?.charge(None, &self.subject(privacy), None)?.draw()?;
            // The very digits of the file.
            let file = serde_json::from_str(&charged.json().to_string()).unwrap_or(Value::Null);
            let read = self.model().noisy_numbers(&file);
            (width, made) = (read.len(), made + 1);
            numbers.extend(read.iter().map(|noisy| noisy.number));
        }
        Ok(Outputs::new(width, numbers))
    }
}

/// What a reader of a release sees.
struct Seen<S> {
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
fn distance(one: &[NoisyNumber], other: &[NoisyNumber]) -> f64 {
    let pairs = one.iter().zip(other);
    pairs.map(|(x, y)| ((x.number - y.number) / x.sd).powi(2)).sum::<f64>().sqrt()
}

//! The error of predictions from noisy bins, fold by fold.

use nalgebra::{DMatrix, DVector};

use super::measure::FoldScore;
use crate::RegressionTask;
use crate::binned::{BinNoise, Binned, of_bins};
use crate::cross_validation::FoldRows;
use crate::denoised_bins::DenoisedBins;
use crate::normalise::{caveats, normalise};
use crate::{Job, Measured, OneTarget, Streams, TaskError};
use dpgp_accounting::Caveat;
use dpgp_mechanisms::{BinningEstimate, BinningSetting, PrivacySetting};

/// The metric `rmse` as for cloaking, with predictions from a noisy statistic of the targets in each bin.
pub(super) fn binning(
    task: &RegressionTask,
    setting: &BinningSetting,
    job: &Job<'_>,
) -> Result<Vec<Measured>, TaskError> {
    let normalised = normalise(&job.sample.targets, &job.setting.normalise);
    let mut folds = Vec::new();
    for rows in FoldRows::of(job.sample, &normalised, task.split, task.score, job.streams) {
        let fold = BinnedFold::new(setting, &rows);
        let denoised = DenoisedBins::of(job, &rows, &fold.binned, normalised.scale)?;
        folds.push(BinnedFold { denoised, ..fold });
    }
    let binning =
        Binning { task, setting, scale: normalised.scale, folds, caveats: caveats(job.setting, &normalised) };
    job.cells.iter().map(|cell| binning.cell(job, cell)).collect()
}

/// What all cells of a block share.
struct Binning<'a> {
    task: &'a RegressionTask,
    setting: &'a BinningSetting,
    /// Units of the target per unit of the normalised one.
    scale: f64,
    folds: Vec<BinnedFold>,
    caveats: [(Caveat, bool); 2],
}

impl Binning<'_> {
    fn cell(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let target = OneTarget::of(cell)?;
        let noise = BinNoise {
            target,
            statistic: self.setting.statistic,
            law: self.setting.noise,
            scale: self.scale,
        };
        let draws = if target.is_private() { self.task.draws.get() } else { 1 };
        let mut scores = Vec::with_capacity(self.folds.len());
        for fold in &self.folds {
            let rmse = fold.rmse(self.setting, noise.sd(), draws, job.streams)? * self.scale;
            scores.push(FoldScore { rmse, constant: fold.constant * self.scale * self.scale });
        }
        let released: Vec<&Binned> = self.folds.iter().map(|fold| &fold.binned).collect();
        let certified = noise.certify(job, &released, &self.caveats)?;
        Ok(certified.scored_often(0.0, &self.task.list(), &scores))
    }
}

/// The bins with training rows, and the test rows.
struct BinnedFold {
    number: usize,
    binned: Binned,
    denoised: Option<DenoisedBins>,
    test: DMatrix<f64>,
    truth: DVector<f64>,
    /// The mean squared error of a constant, on the scale of the model.
    constant: f64,
}

impl BinnedFold {
    fn new(setting: &BinningSetting, rows: &FoldRows) -> Self {
        Self {
            number: rows.number,
            binned: Binned::new(setting, &rows.inputs, &rows.targets),
            denoised: None,
            test: rows.test.clone(),
            truth: DVector::from_column_slice(&rows.truth),
            constant: rows.error_of_constant(),
        }
    }

    /// The mean over draws of the root mean squared error.
    fn rmse(
        &self,
        setting: &BinningSetting,
        noise: f64,
        draws: usize,
        streams: &Streams,
    ) -> Result<f64, TaskError> {
        let sds = self.binned.sds(noise);
        let places = self.binned.places(&self.test);
        let mut total = 0.0;
        for draw in 0..draws {
            let mut stream = streams.of_block(&format!("bins {} {draw}", self.number));
            let noisy = self.binned.noisy(setting.noise, &sds, &mut stream);
            let predicted = match (&setting.estimate, &self.denoised) {
                (BinningEstimate::Bin {}, None) => of_bins(&noisy, &places),
                (BinningEstimate::Bin {}, Some(denoised)) => denoised.mean(noise, &self.binned, &noisy)?,
                (BinningEstimate::Integral { fitted }, _) => {
                    self.binned.integral(&noisy, &sds, &self.test, fitted.get())?
                }
                (BinningEstimate::Offset {}, _) => DVector::from_element(self.truth.len(), noisy.mean()),
            };
            total += ((predicted - &self.truth).norm_squared() / self.truth.len() as f64).sqrt();
        }
        Ok(total / draws as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use dpgp_mechanisms::BinNoiseLaw;
    use dpgp_mechanisms::Statistic;
    use dpgp_number::Count;

    fn fold(estimate: BinningEstimate) -> (BinnedFold, BinningSetting) {
        let inputs: Vec<f64> = (0..40).map(|i| f64::from(i) / 4.0).collect();
        let curve: Vec<f64> = inputs.iter().map(|x| (x / 2.0).sin()).collect();
        let setting = BinningSetting {
            bins: Count::literal::<5>(),
            statistic: Statistic::Mean,
            noise: BinNoiseLaw::Gaussian,
            estimate,
            denoise: None,
        };
        let tested = |row: &usize| [3, 11, 19, 30].contains(row);
        let (test, training): (Vec<usize>, Vec<usize>) = (0..40).partition(tested);
        let inputs = DMatrix::from_vec(40, 1, inputs);
        let rows = FoldRows {
            number: 0,
            inputs: inputs.select_rows(&training),
            targets: training.iter().map(|&row| curve[row]).collect(),
            test: inputs.select_rows(&test),
            truth: test.iter().map(|&row| curve[row]).collect(),
        };
        (BinnedFold::new(&setting, &rows), setting)
    }

    #[test]
    fn a_bin_predicts_its_mean() {
        let (BinnedFold { binned: fold, test, .. }, _) = fold(BinningEstimate::Bin {});
        let noisy = DVector::from_column_slice(&fold.values);
        let predicted = of_bins(&noisy, &fold.places(&test));
        assert_eq!(fold.counts.iter().sum::<usize>(), 36);
        assert_eq!(predicted[0], fold.values[0]);
        assert!((fold.sensitivities[0] - 1.0 / fold.counts[0] as f64).abs() < 1e-15);
    }

    /// Laplace noise has the standard deviation that it is said to have; the offset is the mean of the bins, whatever the point.
    #[test]
    fn an_offset_is_the_mean_of_all_bins_and_laplace_noise_has_its_variance() {
        let (BinnedFold { binned, .. }, _) = fold(BinningEstimate::Offset {});
        let mut stream = Pcg64::seed_from_u64(5);
        let (draws, sds) = (4000, [0.5, 0.0, 2.0, 1.0, 1.0]);
        let noise = (0..draws).map(|_| binned.noisy(BinNoiseLaw::Laplace, &sds, &mut stream));
        let noise: Vec<f64> = noise.map(|noisy| noisy[2] - binned.values[2]).collect();
        let variance = noise.iter().map(|z| z * z).sum::<f64>() / f64::from(draws);
        let absolute = noise.iter().map(|z| z.abs()).sum::<f64>() / f64::from(draws);
        // The mean of the absolute value is the scale, 2 over the root of 2; that of a Gaussian would be 1.6. Five standard errors.
        assert!((variance - 4.0).abs() < 5.0 * (80.0 / f64::from(draws)).sqrt(), "{variance}");
        assert!((absolute - 2.0f64.sqrt()).abs() < 5.0 * (2.0 / f64::from(draws)).sqrt(), "{absolute}");
        let streams = Streams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let (fold, setting) = fold(BinningEstimate::Offset {});
        let offset = fold.binned.values.iter().sum::<f64>() / fold.binned.values.len() as f64;
        let error = (fold.truth.map(|y| y - offset).norm_squared() / fold.truth.len() as f64).sqrt();
        assert!((fold.rmse(&setting, 0.0, 1, &streams).unwrap() / error - 1.0).abs() < 1e-12);
    }

    /// The integral kernel finds the curve that the means of its bins blur.
    #[test]
    fn the_integral_kernel_beats_the_bins_on_a_smooth_curve() {
        let streams = Streams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let [bins, integral] =
            [BinningEstimate::Bin {}, BinningEstimate::Integral { fitted: Count::literal::<5>() }].map(
                |estimate| {
                    let (fold, setting) = fold(estimate);
                    fold.rmse(&setting, 0.0, 1, &streams).unwrap()
                },
            );
        assert!(integral < 0.25 * bins, "{integral} {bins}");
    }
}

//! Regression from noisy statistics of bins, the alternative that cloaking is compared with.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::cross_validation::{folds, others};
use super::normalise::{Normalised, caveats, normalise};
use super::witness::{Sampled, record};
use super::{Measurement, Sample, Streams, TaskError};
use crate::gp::{BinnedFamily, fit};
use crate::kernel::{Bins, Observed};
use crate::privacy::{Certificate, Mechanism, Neighbours, Release};
use crate::spec::{BinningEstimate, BinningSetting, PrivacySetting, RegressionTask, ScoreSetting, Setting};

/// Part of the widest range by which bins reach beyond the training inputs, so that the largest is inside.
const MARGIN: f64 = 1e-9;

/// The metric `rmse` as for cloaking, with predictions from a noisy statistic of the targets in each bin.
pub(super) fn binning(
    block: &Setting,
    task: &RegressionTask,
    setting: &BinningSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Vec<Measurement>>, TaskError> {
    let normalised = normalise(&sample.targets, &block.normalise);
    let splits = folds(sample.rows(), task.split, streams);
    let folds: Vec<Fold> =
        splits.iter().map(|test| Fold::new(task, setting, sample, &normalised, test)).collect();
    let caveats = caveats(block, &normalised);
    let answer = |cell: &&PrivacySetting| -> Result<Vec<Measurement>, TaskError> {
        let noise = cell.change() / normalised.scale * cell.calibration.sigma(cell.epsilon, cell.delta);
        if noise > 0.0 {
            let bins = |fold: &Fold| {
                let binned = &fold.binned;
                binned.counts.iter().copied().zip(binned.sds(noise)).collect::<Vec<_>>()
            };
            record(cell, || Sampled::Statistics {
                statistic: setting.statistic,
                bins: folds.iter().flat_map(bins).collect(),
                change: cell.change() / normalised.scale,
            });
        }
        let rmse = |(number, fold): (usize, &Fold)| {
            fold.rmse(setting, noise, task.draws, (streams, number)).map(|rmse| rmse * normalised.scale)
        };
        let values: Result<Vec<f64>, TaskError> = folds.iter().enumerate().map(rmse).collect();
        let certificate = match cell.epsilon.is_finite() {
            false => Certificate::none(),
            true => Certificate::gaussian(
                (Release::Histogram, Neighbours::OneTargetChanges(cell.change())),
                cell.calibration,
                (cell.epsilon, cell.delta),
                1.0,
                None,
            )
            .by(Mechanism::Histogram(cell.calibration))
            .with_caveats(&caveats),
        };
        Ok(vec![Measurement { metric: "rmse".to_owned(), values: values?, certificate, jitter: 0.0 }])
    };
    cells.iter().map(answer).collect()
}

/// The bins with training rows, in units of the normalised target.
pub(super) struct Binned {
    bins: Bins,
    /// The statistic of each bin, how far it moves when one target moves by 1, and its number of records.
    pub values: Vec<f64>,
    pub sensitivities: Vec<f64>,
    pub counts: Vec<usize>,
}

impl Binned {
    /// Of training rows, with bins over the range of their inputs, which are public.
    pub fn new(setting: &BinningSetting, inputs: &DMatrix<f64>, targets: &[f64]) -> Self {
        let bins = covering(inputs, setting.bins);
        let mut members = vec![Vec::new(); bins.len()];
        for (input, target) in inputs.row_iter().zip(targets) {
            let point: Vec<f64> = input.iter().copied().collect();
            if let Some(bin) = bins.holding(&point) {
                members[bin].push(*target);
            }
        }
        let held: Vec<usize> = (0..bins.len()).filter(|&bin| !members[bin].is_empty()).collect();
        let counts: Vec<usize> = held.iter().map(|&bin| members[bin].len()).collect();
        Self {
            bins: bins.select(&held),
            values: held.iter().filter_map(|&bin| setting.statistic.of(&members[bin])).collect(),
            sensitivities: counts.iter().map(|&n| setting.statistic.sensitivity(n, 1.0)).collect(),
            counts,
        }
    }

    /// The bin that holds each input; none outside all of them.
    pub fn places(&self, inputs: &DMatrix<f64>) -> Vec<Option<usize>> {
        let place = |i: usize| -> Option<usize> {
            self.bins.holding(&inputs.row(i).iter().copied().collect::<Vec<f64>>())
        };
        (0..inputs.nrows()).map(place).collect()
    }

    /// The standard deviations of the noise of all bins.
    pub fn sds(&self, noise: f64) -> Vec<f64> {
        self.sensitivities.iter().map(|s| s * noise).collect()
    }

    /// The statistics with noise.
    pub fn noisy(&self, sds: &[f64], stream: &mut Pcg64) -> DVector<f64> {
        let noisy = self.values.iter().zip(sds).map(|(value, sd)| {
            let unit: f64 = StandardNormal.sample(stream);
            value + sd * unit
        });
        DVector::from_iterator(sds.len(), noisy)
    }
}

/// The bins with training rows, and the test rows.
struct Fold {
    binned: Binned,
    test: DMatrix<f64>,
    truth: DVector<f64>,
}

impl Fold {
    fn new(
        task: &RegressionTask,
        setting: &BinningSetting,
        sample: &Sample,
        normalised: &Normalised,
        test: &[usize],
    ) -> Self {
        let training = others(sample.rows(), test);
        let Normalised { targets, originals, centre, scale, .. } = normalised;
        let truth = |&row: &usize| match task.score {
            ScoreSetting::Clipped => targets[row],
            ScoreSetting::Original => (originals[row] - centre) / scale,
        };
        let inside: Vec<f64> = training.iter().map(|&row| targets[row]).collect();
        Self {
            binned: Binned::new(setting, &sample.inputs.select_rows(&training), &inside),
            test: sample.inputs.select_rows(test),
            truth: DVector::from_iterator(test.len(), test.iter().map(truth)),
        }
    }

    /// The mean over draws of the root mean squared error.
    fn rmse(
        &self,
        setting: &BinningSetting,
        noise: f64,
        draws: usize,
        (streams, number): (&Streams, usize),
    ) -> Result<f64, TaskError> {
        let draws = if noise == 0.0 { 1 } else { draws };
        let sds = self.binned.sds(noise);
        let places = self.binned.places(&self.test);
        let mut total = 0.0;
        for draw in 0..draws {
            let mut stream = streams.of_block(&format!("bins {number} {draw}"));
            let noisy = self.binned.noisy(&sds, &mut stream);
            let predicted = match setting.estimate {
                BinningEstimate::Bin {} => of_bins(&noisy, &places),
                BinningEstimate::Integral { fitted } => {
                    self.binned.integral(&noisy, &sds, &self.test, fitted)?
                }
            };
            total += ((predicted - &self.truth).norm_squared() / self.truth.len() as f64).sqrt();
        }
        Ok(total / draws as f64)
    }
}

/// The value of the bin that holds each input; zero, the centre of the targets, where there is none.
pub(super) fn of_bins(noisy: &DVector<f64>, places: &[Option<usize>]) -> DVector<f64> {
    DVector::from_iterator(places.len(), places.iter().map(|place| place.map_or(0.0, |bin| noisy[bin])))
}

impl Binned {
    /// Regression on the averages of bins with their known noise, about their mean. The parameters are fitted to the bins
    /// with the most records, whose noise is least.
    fn integral(
        &self,
        noisy: &DVector<f64>,
        sds: &[f64],
        test: &DMatrix<f64>,
        most: usize,
    ) -> Result<DVector<f64>, TaskError> {
        let centre = noisy.mean();
        let known: Vec<f64> = sds.iter().map(|sd| sd * sd).collect();
        let mut order: Vec<usize> = (0..self.counts.len()).collect();
        order.sort_by_key(|&bin| std::cmp::Reverse(self.counts[bin]));
        order.truncate(most);
        order.sort_unstable();
        let of = |bins: &[usize]| {
            let known = bins.iter().map(|&bin| known[bin]).collect();
            let family =
                BinnedFamily::new(self.bins.select(bins), Observed::Average, None).with_known_noise(known);
            (family, DVector::from_iterator(bins.len(), bins.iter().map(|&bin| noisy[bin] - centre)))
        };
        let (family, targets) = of(&order);
        let logs = fit(&family, &targets, &starts(&self.bins))?.logs;
        let all: Vec<usize> = (0..self.counts.len()).collect();
        let (family, targets) = of(&all);
        Ok(family.predict(&logs, &targets, test)?.map(|mean| mean + centre))
    }
}

/// Normalised targets have a variance of about 1; lengthscales of one and of four widths of a bin.
fn starts(bins: &Bins) -> Vec<Vec<f64>> {
    let start = |widths: f64| {
        let spans = (0..bins.dimensions()).map(|d| (widths * bins.interval(0, d).width()).ln());
        [0.5f64.ln(), 0.5f64.ln()].into_iter().chain(spans).collect()
    };
    [1.0, 4.0].map(start).to_vec()
}

/// Bins over the range of the inputs, as many along each.
fn covering(inputs: &DMatrix<f64>, count: usize) -> Bins {
    let range = |column: nalgebra::DVectorView<'_, f64>| {
        let (low, high) = (column.min(), column.max());
        let margin = MARGIN * (1.0 + high - low);
        (low - margin, high + margin, count)
    };
    Bins::grid(&inputs.column_iter().map(range).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Statistic;
    use crate::spec::SplitSetting;

    fn fold(estimate: &BinningEstimate) -> (Fold, BinningSetting) {
        let inputs: Vec<f64> = (0..40).map(|i| f64::from(i) / 4.0).collect();
        let targets: Vec<f64> = inputs.iter().map(|x| (x / 2.0).sin()).collect();
        let sample = Sample::new(&[inputs], targets.clone());
        let setting = BinningSetting { bins: 5, statistic: Statistic::Mean, estimate: estimate.clone() };
        let task = RegressionTask { split: SplitSetting::Tail(4), draws: 1, score: ScoreSetting::Clipped };
        let normalised = normalise(&targets, &crate::spec::NormaliseSetting::None);
        (Fold::new(&task, &setting, &sample, &normalised, &[3, 11, 19, 30]), setting)
    }

    #[test]
    fn a_bin_predicts_its_mean() {
        let (Fold { binned: fold, test, .. }, _) = fold(&BinningEstimate::Bin {});
        let noisy = DVector::from_column_slice(&fold.values);
        let predicted = of_bins(&noisy, &fold.places(&test));
        assert_eq!(fold.counts.iter().sum::<usize>(), 36);
        assert_eq!(predicted[0], fold.values[0]);
        assert!((fold.sensitivities[0] - 1.0 / fold.counts[0] as f64).abs() < 1e-15);
    }

    /// The integral kernel finds the curve that the means of its bins blur.
    #[test]
    fn the_integral_kernel_beats_the_bins_on_a_smooth_curve() {
        let streams = Streams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let rmse = |estimate: BinningEstimate| {
            let (fold, setting) = fold(&estimate);
            fold.rmse(&setting, 0.0, 1, (&streams, 0)).unwrap()
        };
        let (bins, integral) = (rmse(BinningEstimate::Bin {}), rmse(BinningEstimate::Integral { fitted: 5 }));
        assert!(integral < 0.25 * bins, "{integral} {bins}");
    }
}

//! Counts of the bins of a histogram: their release, and the estimates of the exact counts that follow from it.

use std::collections::BTreeMap;

use rand::Rng;

use super::spread::{GridCounts, WithinBinSpread};
use super::{Predictions, Sample, TaskError, UnnoisedRelease, UnnoisedValues};
use crate::{CellSetting, DensityTask, TaskSetting};
use dpgp_gp::{GridAxis, GridPosterior, GridSumEstimate, NoisyGrid, denoise_grid};
use dpgp_mechanisms::CertifiedCountsNoise;
use dpgp_spec::setting::{BinRangeSetting, DataSetting};
use dpgp_stream::{CountSummand, RowSummand};

/// Estimates of exact counts from noisy counts alone, so that they cost nothing more.
///
/// Counts of neighbouring bins are alike, by a model whose numbers follow from the noisy counts. Where the noisy counts
/// themselves have the smaller expected error, they are the estimates. No estimate is below zero.
///
/// The model has one variance t of the scatter of all counts about a smooth surface: an average, which is too small where counts are
/// high. A count scatters at least as a Poisson count does, whose variance is its mean. The estimate is linear in the noisy counts and
/// has a derivative l with respect to its own, so that the scatter of its count enters its error with the weight `(1 - l)^2`. To the
/// variance of the error of a count with the estimate m, the model's, this adds `(1 - l)^2 (max(t, m) - t)`, but at most the variance of
/// the noise: a scatter beyond it would show in the noisy counts, and in t.
pub struct CountEstimates {
    axes: Vec<GridAxis>,
    noisy: Vec<f64>,
    noise_variance: f64,
    posterior: GridPosterior,
    /// The derivative of each estimate with respect to its own noisy count.
    leverages: Vec<f64>,
    /// Whether the model has the smaller expected error.
    follows_model: bool,
}

impl CountEstimates {
    /// Fits the model to the noisy counts of the bins (n, the last axis varies fastest).
    ///
    /// # Errors
    /// [`TaskError`] if the noise has no finite variance, or a covariance cannot be factorised.
    pub fn new(axes: &[GridAxis], noisy: Vec<f64>, noise_variance: f64) -> Result<Self, TaskError> {
        let Some(grid) = NoisyGrid::new(axes, &noisy, noise_variance) else {
            return Err(TaskError::NotReleasable { reason: "the noise of its counts has no finite variance" });
        };
        let posterior = denoise_grid(&grid)?;
        let leverages = posterior.leverages();
        let of_model = clipped_stein_risk(&noisy, posterior.mean(), &leverages, noise_variance);
        let of_noisy = clipped_stein_risk(&noisy, &noisy, &vec![1.0; noisy.len()], noise_variance);
        let follows_model = of_model <= of_noisy;
        Ok(Self { axes: axes.to_vec(), noisy, noise_variance, posterior, leverages, follows_model })
    }

    /// Estimates the count of each bin.
    pub fn estimate_bins(&self) -> Predictions {
        predictions_from_estimates(&match self.follows_model {
            true => {
                let cells = self.posterior.estimate_cells().into_iter().zip(self.excess_scatter_variances());
                cells.map(|(cell, beyond)| add_scatter_variance(cell, beyond)).collect::<Vec<_>>()
            }
            false => {
                let as_released =
                    |&mean| GridSumEstimate { mean, model_variance: 0.0, noise_variance: self.noise_variance };
                self.noisy.iter().map(as_released).collect()
            }
        })
    }

    /// Estimates the counts of areas by the parts of all bins that lie in them (n each). `plane` are the axes of x and y.
    ///
    /// Of the n rows of a bin, a part with the share a of its plane and its middle at (u, v) bin widths from that of the bin holds
    /// about `a (n + b_x s_x u + b_y s_y v)` for slopes s of the counts, and the variance of what it holds adds to that of the model:
    /// see `WithinBinSpread`.
    pub fn estimate_areas(&self, plane: [usize; 2], areas: &[Vec<BinAreaOverlap>]) -> Predictions {
        let cells = self.estimate_bins().mean;
        let lengths: Vec<usize> = self.axes.iter().map(|axis| axis.len()).collect();
        let grid = GridCounts { counts: &self.noisy, lengths: &lengths, noise_variance: self.noise_variance };
        let spread = WithinBinSpread::measure(grid, plane);
        let sloped = GridCounts { counts: &cells, ..grid };
        let mut sums = Vec::with_capacity(areas.len());
        for parts in areas {
            let shares: Vec<f64> = parts.iter().map(|part| part.share).collect();
            let mut sum = self.weighted_sum(&shares);
            for (bin, part) in parts.iter().enumerate().filter(|(_, part)| part.is_partial()) {
                let (rows, share) = (cells[bin], part.share);
                sum.mean += share * sloped.slope_correction(bin, plane, spread.slope, part.offset);
                let clustered = 1.0 + spread.clustering * (rows - 1.0).max(0.0);
                sum.model_variance += rows * clustered * share * (1.0 - share);
            }
            sums.push(sum);
        }
        predictions_from_estimates(&sums)
    }

    /// What the scatter of each count adds to the variance of its error, beyond the scatter of all counts.
    fn excess_scatter_variances(&self) -> impl Iterator<Item = f64> {
        let scatter = self.posterior.hyperparameters().scatter;
        let counts = self.posterior.mean().iter().zip(&self.leverages);
        counts.map(move |(mean, leverage)| {
            ((1.0 - leverage).powi(2) * (mean.max(scatter) - scatter)).min(self.noise_variance)
        })
    }

    fn weighted_sum(&self, weights: &[f64]) -> GridSumEstimate {
        if self.follows_model {
            let scatters = weights.iter().zip(self.excess_scatter_variances());
            let beyond = scatters.map(|(weight, beyond)| weight * weight * beyond).sum();
            return add_scatter_variance(self.posterior.estimate_weighted_sum(weights), beyond);
        }
        let mean = weights.iter().zip(&self.noisy).map(|(weight, count)| weight * count).sum();
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
        GridSumEstimate { mean, model_variance: 0.0, noise_variance: self.noise_variance * squares }
    }
}

fn add_scatter_variance(sum: GridSumEstimate, beyond_model: f64) -> GridSumEstimate {
    GridSumEstimate { model_variance: sum.model_variance + beyond_model, ..sum }
}

/// The part of a bin in an area.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BinAreaOverlap {
    /// Its share of the plane of the bin.
    pub share: f64,
    /// Its middle, from that of the bin, in widths of the bin along x and y.
    pub offset: [f64; 2],
}

impl BinAreaOverlap {
    fn is_partial(&self) -> bool {
        self.share > 0.0 && self.share < 1.0
    }
}

/// Estimates and the parts of their error.
fn predictions_from_estimates(estimates: &[GridSumEstimate]) -> Predictions {
    let values = |of: fn(&GridSumEstimate) -> f64| estimates.iter().map(of).collect();
    Predictions {
        mean: values(|count| count.mean.max(0.0)),
        gp_sd: values(|count| count.model_variance.sqrt()),
        noise_sd: values(|count| count.noise_variance.sqrt()),
        least: Some(0.0),
        combinations: None,
    }
}

/// Stein's unbiased estimate of the expected squared error over all bins of `max(0, estimate)`, up to a constant: for
/// noise `N(0, s^2 I)` on the numbers `E|max(0, x) - h|^2 = E[|max(0, x) - h~|^2 + 2 s^2 sum_{x_i > 0} dx_i / dh~_i] -
/// n s^2`. The leverages are these derivatives at fixed
/// hyperparameters.
fn clipped_stein_risk(noisy: &[f64], estimates: &[f64], leverages: &[f64], noise_variance: f64) -> f64 {
    let mut error = 0.0;
    for ((noisy, estimate), weight) in noisy.iter().zip(estimates).zip(leverages) {
        error += (estimate.max(0.0) - noisy).powi(2);
        if *estimate > 0.0 {
            error += 2.0 * noise_variance * weight;
        }
    }
    error
}

/// Makes the axes of a grid of bins. An input with words is an axis of categories.
///
/// # Errors
/// The reason, if a bin holds several words.
pub fn build_count_axes(
    inputs: &[String],
    encode: &BTreeMap<String, Vec<String>>,
    bins: &[BinRangeSetting],
) -> Result<Vec<GridAxis>, &'static str> {
    let mut axes = Vec::with_capacity(bins.len());
    for (input, cut) in inputs.iter().zip(bins) {
        axes.push(match encode.get(input) {
            None => GridAxis::Ordered(cut.bins),
            Some(words) if has_bin_per_category(cut, words) => GridAxis::Categories(cut.bins),
            Some(_) => return Err(SEVERAL_WORDS),
        });
    }
    Ok(axes)
}

const SEVERAL_WORDS: &str = "each bin of a categorical input must hold one category: from = -0.5, \
    to = the number of categories - 0.5, bins = the number of categories";

/// Whether each bin holds the code of one word.
fn has_bin_per_category(cut: &BinRangeSetting, words: &[String]) -> bool {
    cut.bins == words.len() && cut.log.is_none() && cut.from == -0.5 && cut.to == words.len() as f64 - 0.5
}

/// The axes of the bins of a task.
pub(super) fn histogram_axes(task: &DensityTask, data: &DataSetting) -> Result<Vec<GridAxis>, &'static str> {
    build_count_axes(&data.inputs, &data.encode, &task.bins)
}

/// The counts before their noise.
///
/// Obligation: all of [`Predictions`] is computed from the noisy counts and the settings, so that the guarantee of the counts
/// holds for it.
#[derive(Debug, Clone)]
pub(super) struct UnnoisedCounts {
    axes: Vec<GridAxis>,
    counts: Vec<u64>,
    guarantee: CertifiedCountsNoise,
}

impl UnnoisedCounts {
    /// Counts all rows and computes the guarantee.
    pub fn prepare_release(setting: &CellSetting, sample: &Sample) -> Result<UnnoisedRelease, TaskError> {
        let (TaskSetting::Density(task), Some(model)) = (&*setting.task, DensityTask::histogram(setting)) else {
            return Err(TaskError::Missing { needed: "mechanism.histogram" });
        };
        let axes = histogram_axes(task, &setting.data).map_err(|reason| TaskError::NotReleasable { reason })?;
        let guarantee = model.certified_noise(&setting.privacy);
        // The sample holds the rows that pass the filters, and as many of each person as count.
        let summand = CountSummand { filters: Vec::new(), ..model.build_summand(&setting.data) };
        let inputs = sample.inputs.column_iter().map(|column| column.iter().copied().collect());
        let mut columns: Vec<Vec<f64>> = inputs.chain([sample.targets.clone()]).collect();
        let mut counts = summand.zero();
        summand.add_rows(&mut columns, &mut counts, &mut Vec::new());
        let counts = counts.bins;
        Ok(UnnoisedRelease {
            certificate: guarantee.certificate.clone(),
            noise: guarantee.record,
            form: UnnoisedValues::Counts(Box::new(Self { axes, counts, guarantee })),
        })
    }

    /// Draws the noise and estimates the counts.
    pub fn draw(&self, random: &mut impl Rng) -> Result<Predictions, TaskError> {
        let noisy = self.guarantee.release_counts(&self.counts, random)?;
        let noisy: Vec<f64> = noisy.iter().map(|count| *count as f64).collect();
        Ok(CountEstimates::new(&self.axes, noisy, self.guarantee.sd.powi(2))?.estimate_bins())
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Poisson, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;

    /// Worked by hand for noisy counts 3 and -2 with noise variance 1. The estimates are these counts themselves, then 2
    /// and -1 with leverages of a half.
    #[test]
    fn stein_risk_of_clipped_estimates() {
        assert_eq!(clipped_stein_risk(&[3.0, -2.0], &[3.0, -2.0], &[1.0, 1.0], 1.0), 0.0 + 4.0 + 2.0);
        assert_eq!(clipped_stein_risk(&[3.0, -2.0], &[2.0, -1.0], &[0.5, 0.5], 1.0), 1.0 + 4.0 + 1.0);
    }

    /// About nine tenths of the exact counts lie in their 90 % intervals where counts are high, too: Poisson counts about a hill on 24 x
    /// 24 bins, most of which are nearly empty.
    #[test]
    fn intervals_hold_where_counts_are_high() {
        let axes = [GridAxis::Ordered(24), GridAxis::Ordered(24)];
        let (mut held, mut high) = (0, 0);
        for seed in 0..6 {
            let mut random = Pcg64::seed_from_u64(seed);
            let intensity = |bin: usize| {
                let [x, y] = [bin / 24, bin % 24].map(|place| (place as f64 - 11.5) / 4.0);
                12.0 * (-0.5 * (x * x + y * y)).exp() + 0.01
            };
            let exact: Vec<f64> =
                (0..576).map(|bin| Poisson::new(intensity(bin)).unwrap().sample(&mut random)).collect();
            let noisy = exact.iter().map(|exact| exact + 4.0 * random.sample::<f64, _>(StandardNormal)).collect();
            let found = CountEstimates::new(&axes, noisy, 16.0).unwrap().estimate_bins();
            for bin in (0..576).filter(|bin| intensity(*bin) > 4.0) {
                let half = 1.645 * found.gp_sd[bin].hypot(found.noise_sd[bin]);
                held += usize::from((found.mean[bin] - exact[bin]).abs() <= half);
                high += 1;
            }
        }
        let share = held as f64 / high as f64;
        assert!((0.86..0.96).contains(&share), "{share} of {high}");
    }

    /// Guards against bins of several words, whose counts would be those of neither.
    #[test]
    fn words_have_a_bin_each() {
        let inputs = ["x".to_owned(), "kind".to_owned()];
        let encode = BTreeMap::from([("kind".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
        let cut = |from, to, bins| BinRangeSetting { from, to, bins, log: None };
        let axes = |words: BinRangeSetting| build_count_axes(&inputs, &encode, &[cut(0.0, 8.0, 4), words]);
        let found = axes(cut(-0.5, 1.5, 2)).unwrap();
        assert!(matches!(found[..], [GridAxis::Ordered(4), GridAxis::Categories(2)]));
        for words in [cut(-0.5, 1.5, 1), cut(0.0, 1.0, 2), cut(-0.5, 2.5, 3)] {
            assert_eq!(axes(words).unwrap_err(), SEVERAL_WORDS);
        }
    }
}

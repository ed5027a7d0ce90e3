//! A file of released counts, and the best estimates of the exact counts. They cost nothing more.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::grid::product;
use super::moments_file::{FilePredictions, GuaranteeOfFile, data_without_rows};
use super::{GridChoice, PublicPoints, ReleaseError};
use dpgp_data::whole_text;
use dpgp_gp::{GridAxis, GridSum, NoisyGrid, denoise_grid};
use dpgp_number::Positive;
use dpgp_spec::setting::{CutSetting, cuts};
use dpgp_task::{Points, Predictions, TaskError};

/// The part of a counts release from `dpgp sum --release` that the estimates need.
#[derive(Debug)]
pub struct CountsFile {
    histogram: HistogramOfFile,
    counts: Vec<i64>,
    sd: Positive,
    guarantee: String,
}

/// The parts of the file that are read.
#[derive(Deserialize)]
struct WholeFile {
    histogram: HistogramOfFile,
    counts: Vec<i64>,
    sd: Positive,
    guarantee: GuaranteeOfFile,
}

/// The public settings beside the counts.
#[derive(Debug, Deserialize)]
struct HistogramOfFile {
    inputs: Vec<String>,
    #[serde(default)]
    encode: BTreeMap<String, Vec<String>>,
    records: String,
    bins: Vec<CutSetting>,
}

impl CountsFile {
    /// Reads a release of counts. Returns `None` if the file holds another release.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NotCounts`] if counts are missing, or their number is not that of the bins.
    pub fn read(path: &Path) -> Result<Option<Self>, ReleaseError> {
        let text = whole_text(path).map_err(ReleaseError::io(path))?;
        Self::parse(&text).map_err(|cause| ReleaseError::NotCounts { path: path.to_path_buf(), cause })
    }

    fn parse(text: &str) -> Result<Option<Self>, String> {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
        if value.get("histogram").is_none() {
            return Ok(None);
        }
        let file: WholeFile = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let WholeFile { histogram, counts, sd, guarantee } = file;
        let checked = cuts("histogram.bins", &histogram.bins, histogram.inputs.len());
        checked.map_err(|fault| format!("{}: {}", fault.path, fault.problem))?;
        let bins: usize = histogram.bins.iter().map(|cut| cut.bins).product();
        if bins != counts.len() {
            return Err(format!("it has {} counts for {bins} bins", counts.len()));
        }
        Ok(Some(Self { histogram, counts, sd, guarantee: guarantee.text }))
    }

    /// The guarantee of the file, which covers all results computed from it.
    pub fn guarantee(&self) -> &str {
        &self.guarantee
    }

    /// Estimates the exact count of each bin, at its centre, from all noisy counts. Counts of neighbouring bins are
    /// alike, by a model whose numbers follow from the noisy counts; an estimate is not below zero. Where the noisy counts
    /// themselves have the smaller expected error, they are the estimates.
    ///
    /// # Errors
    /// [`ReleaseError`] for points other than the bins, a bin of several words, or a covariance that cannot be factorised.
    pub fn predict(self, at: &PublicPoints<'_>) -> Result<FilePredictions, ReleaseError> {
        if !matches!(at, PublicPoints::Grid(GridChoice::Auto)) {
            return Err(ReleaseError::NotReleasable(
                "counts belong to the bins of their release; use --grid auto",
            ));
        }
        let HistogramOfFile { inputs, encode, records, bins } = self.histogram;
        let (mut axes, mut centres) = (Vec::new(), Vec::new());
        for (input, cut) in inputs.iter().zip(&bins) {
            let width = (cut.to - cut.from) / cut.bins as f64;
            centres.push((0..cut.bins).map(|bin| cut.from + (bin as f64 + 0.5) * width).collect());
            axes.push(match encode.get(input) {
                None => GridAxis::Ordered(cut.bins),
                Some(words) if has_one_bin_per_word(cut, words) => GridAxis::Categories(cut.bins),
                Some(_) => return Err(ReleaseError::NotReleasable(SEVERAL_WORDS)),
            });
        }
        let numbers: Vec<f64> = self.counts.iter().map(|count| *count as f64).collect();
        let noise_variance = self.sd.get().powi(2);
        let Some(grid) = NoisyGrid::new(&axes, &numbers, noise_variance) else {
            return Err(ReleaseError::NotReleasable("the noise of its counts has no finite variance"));
        };
        let posterior = denoise_grid(&grid).map_err(TaskError::from)?;
        let noisy = numbers.iter().map(|&mean| GridSum { mean, model_variance: 0.0, noise_variance });
        let of_model = stein_risk(&numbers, posterior.mean(), &posterior.leverages(), noise_variance);
        let of_noisy = stein_risk(&numbers, &numbers, &vec![1.0; numbers.len()], noise_variance);
        let estimated = if of_model <= of_noisy { posterior.cells() } else { noisy.collect() };
        let values = |of: fn(&GridSum) -> f64| estimated.iter().map(of).collect();
        let predictions = Predictions {
            mean: values(|count| count.mean.max(0.0)),
            gp_sd: values(|count| count.model_variance.sqrt()),
            noise_sd: values(|count| count.noise_variance.sqrt()),
            least: Some(0.0),
        };
        let points = Points::even(product(&centres));
        let data = data_without_rows(inputs, records, encode);
        Ok(FilePredictions { data, points, predictions, warnings: Vec::new() })
    }
}

/// Stein's unbiased estimate of the expected squared error over all bins of `max(0, estimate)`, up to a constant: for
/// noise `N(0, s^2 I)` on the numbers `E|max(0, x) - h|^2 = E[|max(0, x) - h~|^2 + 2 s^2 sum_{x_i > 0} dx_i / dh~_i] -
/// n s^2`. The leverages are these derivatives at fixed
/// hyperparameters.
fn stein_risk(noisy: &[f64], estimates: &[f64], leverages: &[f64], noise_variance: f64) -> f64 {
    let mut error = 0.0;
    for ((noisy, estimate), weight) in noisy.iter().zip(estimates).zip(leverages) {
        error += (estimate.max(0.0) - noisy).powi(2);
        if *estimate > 0.0 {
            error += 2.0 * noise_variance * weight;
        }
    }
    error
}

const SEVERAL_WORDS: &str = "each bin of an input with words must hold one word: from = -0.5, to = the number of words - 0.5, \
    bins = the number of words";

/// Whether each bin holds the code of one word.
fn has_one_bin_per_word(cut: &CutSetting, words: &[String]) -> bool {
    cut.bins == words.len() && cut.from == -0.5 && cut.to == words.len() as f64 - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bins: &str, counts: &str) -> String {
        format!(
            "{{ \"histogram\": {{ \"inputs\": [\"x\"], \"records\": \"n\", \"filter\": [], \"bins\": [{bins}] }}, \
             \"counts\": {counts}, \"sd\": 2.0, \"guarantee\": {{ \"text\": \"g\" }} }}"
        )
    }

    const BINS: &str = r#"{ "from": 0.0, "to": 8.0, "bins": 4 }"#;

    /// Guards against a file that another program wrote, or somebody changed, and that is read as something else.
    #[test]
    fn what_holds_no_counts_is_refused() {
        assert!(CountsFile::parse("{ \"moments\": 1 }").unwrap().is_none());
        assert!(CountsFile::parse("x,y\n").unwrap().is_none());
        let said = |text: &str| CountsFile::parse(text).unwrap_err();
        assert_eq!(said(&file(BINS, "[1, 2, 3]")), "it has 3 counts for 4 bins");
        assert!(said(&file("", "[]")).contains("histogram.bins"));
        assert!(said(&file(BINS, "[1, 2, 3, 0.5]")).contains("invalid type"));
        assert!(said(&file(BINS, "[1, 2, 3, 4]").replace("2.0", "0.0")).contains("0"));
    }

    /// Worked by hand for noisy counts 3 and -2 with noise variance 1. The estimates are these counts themselves, then 2
    /// and -1 with leverages of a half.
    #[test]
    fn stein_risk_of_clipped_estimates() {
        assert_eq!(stein_risk(&[3.0, -2.0], &[3.0, -2.0], &[1.0, 1.0], 1.0), 0.0 + 4.0 + 2.0);
        assert_eq!(stein_risk(&[3.0, -2.0], &[2.0, -1.0], &[0.5, 0.5], 1.0), 1.0 + 4.0 + 1.0);
    }

    /// The centres of the bins, and no count below zero.
    #[test]
    fn counts_are_estimated_at_the_centres() {
        let read = CountsFile::parse(&file(BINS, "[50, -3, 0, 1]")).unwrap().unwrap();
        let found = read.predict(&PublicPoints::Grid(&GridChoice::Auto)).unwrap();
        assert_eq!(found.points.inputs.as_slice(), [1.0, 3.0, 5.0, 7.0]);
        let Predictions { mean, gp_sd, noise_sd, .. } = &found.predictions;
        assert!((mean[0] - 50.0).abs() < 4.0);
        for bin in 0..4 {
            let (low, high) = found.predictions.interval(bin);
            assert!(low >= 0.0 && mean[bin] >= low && high >= mean[bin]);
            assert!(gp_sd[bin].hypot(noise_sd[bin]) <= 2.0 * (1.0 + 1e-12), "a noisy count alone errs by 2");
        }
        assert_eq!(found.predictions.interval(1).0, 0.0);
    }
}

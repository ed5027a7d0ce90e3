//! Summarises the measurements of all replicates as result rows. Seeds one random stream per purpose,
//! independent of the grid, the order and the threads.

use nalgebra::{DMatrix, DVector};
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};

use super::MetricMeasurement;
use dpgp_accounting::Certificate;
use dpgp_spec::{FEWEST_FOR_QUANTILES, SpreadKind};

/// The share of the replicates beyond each quantile.
const TAIL: f64 = 0.025;

/// One metric of one cell over all replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSummary {
    /// Index of the cell in its experiment.
    pub cell: usize,
    /// The metric.
    pub metric: String,
    /// Mean of all values; NaN where one of them is undefined.
    pub value: f64,
    /// Why it is undefined; none if it is a number.
    pub undefined: Option<String>,
    /// Sample standard deviation, if there is more than one value.
    pub spread: Option<f64>,
    /// What the spread is.
    pub spread_kind: SpreadKind,
    /// How many values the spread was taken over.
    pub repeats: usize,
    /// The value in each replicate.
    pub replicates: Vec<f64>,
    /// The standard deviation over folds in each replicate; empty where there is none.
    pub fold_spreads: Vec<f64>,
    /// What is guaranteed.
    pub certificate: Certificate,
    /// The largest jitter that a factorisation needed; zero if none did.
    pub jitter: f64,
}

/// The rows of one cell: each metric with its spread over folds (averaged over replicates), and where there are
/// several replicates once more with the spread between them, as `METRIC-replicates`. A metric with one value in each
/// replicate has the spread between them alone.
pub fn summarise(cell: usize, replicates: &[Vec<MetricMeasurement>]) -> Vec<MetricSummary> {
    let Some(first) = replicates.first() else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for (index, measurement) in first.iter().enumerate() {
        let of_metric: Vec<&MetricMeasurement> = replicates.iter().map(|r| &r[index]).collect();
        if replicates.len() > 1 && measurement.values.len() == 1 {
            rows.push(summarise_replicates(cell, &of_metric, measurement.metric.clone()));
            continue;
        }
        rows.push(summarise_folds(cell, &of_metric));
        if replicates.len() > 1 && measurement.values.len() > 1 {
            let metric = format!("{}-replicates", measurement.metric);
            let fold_spreads = fold_spreads(&of_metric).unwrap_or_default();
            rows.push(MetricSummary { fold_spreads, ..summarise_replicates(cell, &of_metric, metric) });
            if replicates.len() >= FEWEST_FOR_QUANTILES as usize {
                let ends = [("low", TAIL), ("high", 1.0 - TAIL)];
                rows.extend(ends.map(|(end, q)| summarise_quantile(cell, &of_metric, end, q)));
            }
        }
    }
    rows
}

fn summarise_folds(cell: usize, replicates: &[&MetricMeasurement]) -> MetricSummary {
    let means: Vec<f64> = replicates.iter().map(|m| mean(&m.values)).collect();
    let spreads = fold_spreads(replicates);
    let spread = spreads.as_deref().map(mean);
    MetricSummary {
        cell,
        metric: replicates[0].metric.clone(),
        value: mean(&means),
        undefined: undefined_reason(replicates),
        replicates: means,
        fold_spreads: spreads.unwrap_or_default(),
        spread,
        spread_kind: if spread.is_some() { SpreadKind::SdFolds } else { SpreadKind::None },
        repeats: replicates[0].values.len(),
        certificate: worst_certificate(replicates),
        jitter: replicates.iter().map(|m| m.jitter).fold(0.0, f64::max),
    }
}

/// The standard deviation over folds in each replicate, if each has one.
fn fold_spreads(replicates: &[&MetricMeasurement]) -> Option<Vec<f64>> {
    let spreads: Option<Vec<f64>> = replicates.iter().map(|m| sample_sd(&m.values)).collect();
    spreads.filter(|spreads| spreads.iter().all(|spread| spread.is_finite()))
}

fn summarise_replicates(cell: usize, replicates: &[&MetricMeasurement], metric: String) -> MetricSummary {
    let means: Vec<f64> = replicates.iter().map(|m| mean(&m.values)).collect();
    // What does not depend on the streams is the same in every replicate, and is given without rounding.
    let exact = means.iter().all(|m| *m == means[0]);
    let spread = if exact { None } else { sample_sd(&means).filter(|spread| spread.is_finite()) };
    MetricSummary {
        cell,
        metric,
        value: if exact { means[0] } else { mean(&means) },
        undefined: undefined_reason(replicates),
        spread,
        spread_kind: if spread.is_some() { SpreadKind::SdReplicates } else { SpreadKind::None },
        repeats: replicates.len(),
        replicates: means,
        fold_spreads: Vec::new(),
        certificate: worst_certificate(replicates),
        jitter: replicates.iter().map(|m| m.jitter).fold(0.0, f64::max),
    }
}

/// A quantile of the replicates' values (linear between neighbours in their order), as `METRIC-low` or `METRIC-high`.
fn summarise_quantile(cell: usize, replicates: &[&MetricMeasurement], end: &str, share: f64) -> MetricSummary {
    let mut means: Vec<f64> = replicates.iter().map(|m| mean(&m.values)).collect();
    means.sort_by(f64::total_cmp);
    let place = share * (means.len() - 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(means.len() - 1);
    let metric = format!("{}-{end}", replicates[0].metric);
    let value = means[below] + part * (means[above] - means[below]);
    MetricSummary {
        value,
        spread: None,
        spread_kind: SpreadKind::None,
        ..summarise_replicates(cell, replicates, metric)
    }
}

/// Why a metric is undefined in some replicate.
fn undefined_reason(replicates: &[&MetricMeasurement]) -> Option<String> {
    replicates.iter().find_map(|measurement| measurement.undefined.clone())
}

/// The certificate with the largest exact delta and gap of all replicates.
fn worst_certificate(replicates: &[&MetricMeasurement]) -> Certificate {
    let mut worst = replicates[0].certificate.clone();
    for measurement in &replicates[1..] {
        worst.merge_larger_delta_and_gap(&measurement.certificate);
    }
    worst
}

/// The mean of numbers.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sample_sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The streams of one replicate of one block.
///
/// A stream is `Pcg64::from_seed(sha256("v1" | seed | scope | replicate | purpose))`. The scope of splits and
/// of inducing inputs is the data block alone, so that every method meets the same folds and centres; that of the
/// noise is the block.
/// The noise is for experiments: anyone who knows the seed can subtract it.
#[derive(Debug, Clone)]
pub struct RandomStreams {
    /// The spec's seed.
    pub seed: u32,
    /// Identity of the data block.
    pub data: String,
    /// Identity of the block.
    pub block: String,
    /// Number of the replicate.
    pub replicate: u32,
}

impl RandomStreams {
    /// A stream shared by all cells with the same data block.
    pub fn data_stream(&self, purpose: &str) -> Pcg64 {
        self.stream(&self.data, purpose)
    }

    /// A stream of the block's own.
    pub fn block_stream(&self, purpose: &str) -> Pcg64 {
        self.stream(&self.block, purpose)
    }

    fn stream(&self, scope: &str, purpose: &str) -> Pcg64 {
        let text = format!("v1|{}|{scope}|{}|{purpose}", self.seed, self.replicate);
        Pcg64::from_seed(Sha256::digest(text.as_bytes()).into())
    }
}

/// Standard normal draws, one column after the other.
pub(super) fn standard_normal_matrix(rows: usize, columns: usize, stream: &mut impl Rng) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |_, _| StandardNormal.sample(stream))
}

/// A vector of standard normal draws.
pub(super) fn standard_normal_vector(length: usize, stream: &mut impl Rng) -> DVector<f64> {
    DVector::from_fn(length, |_, _| StandardNormal.sample(stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(values: &[f64]) -> MetricMeasurement {
        MetricMeasurement {
            metric: "m".into(),
            values: values.to_vec(),
            undefined: values.iter().any(|value| value.is_nan()).then(|| "nothing varies".to_owned()),
            certificate: Certificate::none(),
            jitter: 0.0,
        }
    }

    #[test]
    fn many_replicates_have_quantiles() {
        let replicates: Vec<Vec<MetricMeasurement>> =
            (0..=200).rev().map(|i| vec![measurement(&[f64::from(i), f64::from(i)])]).collect();
        let rows = summarise(0, &replicates);
        let of = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap().value;
        assert_eq!((of("m-low"), of("m-high"), of("m-replicates")), (5.0, 195.0, 100.0));
    }

    /// One fold of one replicate is enough: a mean over the others would be one of other rows. All rows of the metric are there.
    #[test]
    fn what_is_undefined_once_is_undefined() {
        let replicates = [vec![measurement(&[1.0, f64::NAN])], vec![measurement(&[4.0, 8.0])]];
        let rows = summarise(0, &replicates);
        assert_eq!(rows.iter().map(|row| row.metric.as_str()).collect::<Vec<_>>(), ["m", "m-replicates"]);
        for row in rows {
            assert!(row.value.is_nan() && row.undefined.as_deref() == Some("nothing varies"));
            assert_eq!((row.spread, row.spread_kind), (None, SpreadKind::None));
        }
    }

    #[test]
    fn spreads_over_folds_and_replicates() {
        let rows = summarise(3, &[vec![measurement(&[1.0, 3.0])], vec![measurement(&[4.0, 8.0])]]);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].value, rows[0].repeats, rows[0].cell), (4.0, 2, 3));
        let spread = rows[0].spread.unwrap();
        assert!((spread - 0.5 * (2f64.sqrt() + 8f64.sqrt())).abs() < 1e-15);
        assert_eq!((rows[1].value, rows[1].spread, rows[1].repeats), (4.0, Some(8f64.sqrt()), 2));
        let exact = summarise(0, &[vec![measurement(&[5.0])]]);
        assert_eq!((exact.len(), exact[0].spread), (1, None));
    }
}

#[cfg(test)]
mod streams_tests {
    use super::*;

    fn streams(replicate: u32) -> RandomStreams {
        RandomStreams { seed: 1, data: "data".into(), block: "block".into(), replicate }
    }

    #[test]
    fn streams_differ_by_purpose_scope_and_replicate() {
        let first = |mut stream: Pcg64| stream.next_u64();
        let all = [
            first(streams(0).data_stream("split")),
            first(streams(0).data_stream("noise")),
            first(streams(0).block_stream("split")),
            first(streams(1).data_stream("split")),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b));
        }
    }

    /// PCG64 (XSL-RR 128/64) started from the digest, computed by an independent implementation.
    #[test]
    fn the_first_outputs_are_pinned() {
        let mut stream = streams(0).data_stream("split");
        assert_eq!([stream.next_u64(), stream.next_u64()], PINNED);
    }

    const PINNED: [u64; 2] = [15_733_226_225_593_223_308, 8_969_240_536_713_540_158];
}

//! The entry point to all tasks, and the rows of one replicate: drawn from a file or generated.

use std::ops::Deref;
use std::sync::Arc;

use nalgebra::DMatrix;
use rand::RngExt;
use rand::seq::{SliceRandom, index};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::cross_validation::split_into_test_folds;
use super::{CellMeasurements, CellSetting, RandomStreams, ReplicateJob, RunCache, Sample, TaskError, TaskSetting};
use dpgp_data::synthetic;
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::draw_from_prior;
use dpgp_spec::setting::{DataSetting, QuotaSetting, RowDrawSetting, SourceSetting, SyntheticSetting};

/// Measures one replicate of one block. The list follows the cells of the job.
///
/// # Errors
/// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
pub fn measure_replicate(task: &TaskSetting, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
    let sample = draw_sample(&job.setting.data, job.sample, job.streams, job.known)?;
    let measured = task.as_task().measure_cells(&ReplicateJob { sample: &sample, ..*job })?;
    let named = task.as_task().metric_names(1);
    measured.into_iter().map(|cell| cell.validate_and_trim_frames(&named, job.streams.replicate)).collect()
}

/// The rows of one replicate of a task that splits rows into folds.
#[derive(Debug, Clone)]
pub struct FoldedSample {
    /// The rows, after draws.
    pub sample: Sample,
    /// The fold in which each row is held out, from 0; none if it only trains.
    pub folds: Vec<Option<usize>>,
}

/// Draws the rows of one replicate and splits them into folds. `None` if the task has no folds.
///
/// # Errors
/// [`TaskError::TooFewRows`] if a quota cannot be met.
pub fn split_into_folds(
    setting: &CellSetting,
    sample: &Sample,
    streams: &RandomStreams,
) -> Result<Option<FoldedSample>, TaskError> {
    let split = match &*setting.task {
        TaskSetting::Leaderboard(task) => task.split,
        TaskSetting::Regression(task) => task.split,
        _ => return Ok(None),
    };
    let sample = Sample::clone(&*draw_sample(&setting.data, sample, streams, &RunCache::default())?);
    let mut held_out = vec![None; sample.row_count()];
    for (number, fold) in split_into_test_folds(sample.row_count(), split, streams).into_iter().enumerate() {
        fold.into_iter().for_each(|row| held_out[row] = Some(number));
    }
    Ok(Some(FoldedSample { sample, folds: held_out }))
}

/// The sample of one replicate.
pub(super) enum DrawnSample<'a> {
    /// All rows of a file.
    Whole(&'a Sample),
    /// Some rows of a file.
    Some(Sample),
    /// Rows that were generated.
    Generated(Arc<Sample>),
}

impl Deref for DrawnSample<'_> {
    type Target = Sample;

    fn deref(&self) -> &Sample {
        match self {
            Self::Whole(sample) => sample,
            Self::Some(sample) => sample,
            Self::Generated(sample) => sample,
        }
    }
}

/// All that generated rows depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedSampleKey {
    setting: SyntheticSetting,
    /// Where the random numbers begin.
    stream: Pcg64,
}

/// The sample of one replicate. Every method with the same data block meets the same rows.
///
/// # Errors
/// [`TaskError::TooFewRows`] if a quota cannot be met.
pub(super) fn draw_sample<'a>(
    data: &DataSetting,
    sample: &'a Sample,
    streams: &RandomStreams,
    known: &RunCache,
) -> Result<DrawnSample<'a>, TaskError> {
    if let SourceSetting::Synthetic(setting) = &data.source {
        let question = GeneratedSampleKey { setting: setting.clone(), stream: streams.data_stream("generate") };
        let generate = || Arc::new(generate_synthetic(setting, question.stream.clone()));
        return Ok(DrawnSample::Generated(known.samples.get_or_compute(&question, generate)));
    }
    match &data.draw {
        None => Ok(DrawnSample::Whole(sample)),
        Some(RowDrawSetting::Rows(rows)) => {
            let mut stream = streams.data_stream("draw");
            let chosen = index::sample(&mut stream, sample.row_count(), rows.get().min(sample.row_count())).into_vec();
            Ok(DrawnSample::Some(sample.select(&chosen)))
        }
        Some(RowDrawSetting::Quotas(quotas)) => draw_quota_rows(quotas, sample, streams).map(DrawnSample::Some),
    }
}

/// Rows without replacement, as many of each kind as its quota says.
fn draw_quota_rows(quotas: &[QuotaSetting], sample: &Sample, streams: &RandomStreams) -> Result<Sample, TaskError> {
    let mut stream = streams.data_stream("draw");
    let mut chosen = Vec::new();
    for quota in quotas {
        let mut of_kind: Vec<usize> = (0..sample.row_count()).filter(|&row| is_quota_row(quota, sample, row)).collect();
        if of_kind.len() < quota.rows {
            let QuotaSetting { target, inputs, rows: wanted } = quota.clone();
            return Err(TaskError::TooFewRows { target, inputs, wanted, found: of_kind.len() });
        }
        let (some, _) = of_kind.partial_shuffle(&mut stream, quota.rows);
        chosen.extend_from_slice(some);
    }
    Ok(sample.select(&chosen))
}

fn is_quota_row(quota: &QuotaSetting, sample: &Sample, row: usize) -> bool {
    let inputs = sample.inputs.row(row);
    sample.targets[row] == quota.target && inputs.iter().zip(&quota.inputs).all(|(a, b)| a == b)
}

fn generate_synthetic(setting: &SyntheticSetting, mut stream: Pcg64) -> Sample {
    let rows = match setting {
        SyntheticSetting::Stripes { points, flips, grid } => {
            synthetic::generate_stripes(points.get(), flips.get(), grid.get(), &mut stream)
        }
        SyntheticSetting::Sinc { points, noise, grid } => {
            synthetic::generate_sinc(points.get(), noise.get(), grid.get(), &mut stream)
        }
        SyntheticSetting::GaussianProcess { points, noise, lengthscale, test, inputs } => {
            let process = GaussianProcessSampler {
                points: points.get(),
                test: test.get(),
                inputs: inputs.get(),
                noise: noise.get(),
                lengthscale: lengthscale.get(),
            };
            return process.sample(&mut stream);
        }
        SyntheticSetting::Moons { points, noise } => synthetic::generate_moons(points.get(), noise.get(), &mut stream),
        SyntheticSetting::Spirals { points, arms, noise } => {
            synthetic::generate_spirals(points.get(), arms.get(), noise.get(), &mut stream)
        }
    };
    Sample::new(&rows.inputs, rows.targets)
}

/// A draw f of a Gaussian process at inputs from U(-4, 4).
struct GaussianProcessSampler {
    points: usize,
    test: usize,
    inputs: usize,
    noise: f64,
    lengthscale: f64,
}

impl GaussianProcessSampler {
    /// Training rows with noise, test rows with noise, and the same test rows without.
    fn sample(&self, stream: &mut Pcg64) -> Sample {
        let &Self { points, test, inputs, noise, lengthscale } = self;
        let inputs = DMatrix::from_fn(points + test, inputs, |_, _| 8.0 * stream.random::<f64>() - 4.0);
        let f = draw_from_prior(&ExponentiatedQuadratic::isotropic(1.0, lengthscale), &inputs, stream);
        let noisy = f.iter().map(|f| {
            let z: f64 = StandardNormal.sample(stream);
            f + noise * z
        });
        let mut targets: Vec<f64> = noisy.collect();
        targets.extend(f.iter().skip(points));
        let rows: Vec<usize> = (0..points + test).chain(points..points + test).collect();
        Sample { inputs: inputs.select_rows(&rows), targets, persons: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_data::MissingCellPolicy;
    use dpgp_number::Count;

    fn streams(replicate: u32) -> RandomStreams {
        RandomStreams { seed: 1, data: "d".into(), block: "b".into(), replicate }
    }

    fn data(draw: RowDrawSetting) -> DataSetting {
        DataSetting {
            source: SourceSetting::Inline(std::collections::BTreeMap::new()),
            inputs: vec!["x".to_owned()],
            target: Some("y".to_owned()),
            encode: std::collections::BTreeMap::new(),
            missing: MissingCellPolicy::Refuse,
            filter: Vec::new(),
            person: None,
            rows_per_person: None,
            draw: Some(draw),
        }
    }

    #[test]
    fn rows_are_drawn_without_replacement() {
        let sample = Sample::new(&[(0..20).map(f64::from).collect()], vec![0.0; 20]);
        let draw = |replicate| {
            let twelve = data(RowDrawSetting::Rows(Count::literal::<12>()));
            let drawn = draw_sample(&twelve, &sample, &streams(replicate), &RunCache::default()).unwrap();
            drawn.inputs.iter().copied().collect::<Vec<f64>>()
        };
        let mut rows = draw(0);
        assert_ne!(rows, draw(1));
        rows.sort_by(f64::total_cmp);
        rows.dedup();
        assert_eq!(rows.len(), 12);
    }

    /// The test rows come twice, with noise and without; a draw is smooth, and rows with noise lie around it.
    #[test]
    fn a_gaussian_process_has_training_noisy_and_true_rows() {
        let setting: SyntheticSetting =
            toml::from_str("gaussian-process = { points = 500, noise = 0.2, lengthscale = 1, test = 400 }").unwrap();
        let sample = generate_synthetic(&setting, streams(0).data_stream("generate"));
        assert_eq!((sample.row_count(), sample.inputs.shape()), (setting.rows(), (1300, 1)));
        assert_eq!(sample.inputs.rows(500, 400), sample.inputs.rows(900, 400));
        assert!(sample.inputs.amax() <= 4.0);
        let residual = |i: usize| sample.targets[500 + i] - sample.targets[900 + i];
        let sd = ((0..400).map(|i| residual(i).powi(2)).sum::<f64>() / 400.0).sqrt();
        assert!((sd - 0.2).abs() < 4.0 * 0.2 / 800f64.sqrt());
        let mut truth: Vec<(f64, f64)> = (900..1300).map(|i| (sample.inputs[i], sample.targets[i])).collect();
        truth.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(truth.windows(2).all(|w| (w[1].1 - w[0].1).abs() < 6.0 * (w[1].0 - w[0].0) + 1e-5));
        assert_ne!(sample.targets, generate_synthetic(&setting, streams(1).data_stream("generate")).targets);
    }

    #[test]
    fn quotas_are_met_or_refused() {
        let sample = Sample::new(&[vec![0.0, 0.0, 1.0, 1.0, 1.0]], vec![0.0, 1.0, 1.0, 1.0, 0.0]);
        let quota = |target, input, rows| QuotaSetting { target, inputs: vec![input], rows };
        let some = RowDrawSetting::Quotas(vec![quota(1.0, 1.0, 1), quota(0.0, 0.0, 1)]);
        let sample_drawn = draw_sample(&data(some), &sample, &streams(0), &RunCache::default()).unwrap();
        assert_eq!(
            (sample_drawn.inputs.as_slice(), &*sample_drawn.targets),
            ([1.0, 0.0].as_slice(), [1.0, 0.0].as_slice())
        );
        let many = RowDrawSetting::Quotas(vec![quota(1.0, 1.0, 3)]);
        let refused = draw_sample(&data(many), &sample, &streams(0), &RunCache::default()).err();
        assert!(matches!(refused, Some(TaskError::TooFewRows { wanted: 3, found: 2, .. })));
    }
}

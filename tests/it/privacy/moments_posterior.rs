//! What follows from noisy sums over rows at unknown inputs, against values from another program and the exact process.

use std::sync::Arc;

use dpgp::gp::exact_prediction_map;
use dpgp::gp::sites::{
    CountingSites, FeatureSums, HyperparameterGrid, InputPosterior, KernelWithLogPrior, NoisyFeatureSums,
    SiteCountPosterior, SiteFeatures, SiteInterpolationVariance, SiteProcessPosterior, ValueWithLogPrior,
    box_midpoint_grid, fit_site_mixture,
};
use dpgp::kernel::ExponentiatedQuadratic;
use dpgp::privacy::Frequencies;
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

use crate::support::golden::{assert_relative, golden, matrix, number, numbers};

/// Forty rows, eight sites, five sums and eight plain ones.
struct Golden {
    features: SiteFeatures,
    released: NoisyFeatureSums,
    inputs: InputPosterior,
}

fn line(value: &Value) -> Frequencies {
    Frequencies::from_vectors(numbers(value).into_iter().map(|j| vec![j as i64]))
}

fn squared(sds: &DVector<f64>) -> DVector<f64> {
    sds.map(|sd| sd * sd)
}

impl Golden {
    fn read() -> Self {
        let golden = &golden("moments")["inference"];
        let (b, t) = (line(&golden["b_frequencies"]), line(&golden["t_frequencies"]));
        let sites = box_midpoint_grid(1, 8);
        let features = SiteFeatures {
            weighted: b.features(&sites, 1.5),
            plain: t.features(&sites, 1.5),
            between: None,
            gram: None,
            shares: CountingSites::from_even_points(sites.clone()).shares,
            sites,
        };
        let sums = FeatureSums {
            rows: 40,
            weighted: DVector::from_vec(numbers(&golden["released_b"])),
            plain: DVector::from_vec(numbers(&golden["released_T"])),
            squares: number(golden, "released_q"),
        };
        let released = NoisyFeatureSums {
            sums,
            weighted: squared(&b.repeat_per_column(&numbers(&golden["sd_b"]))),
            plain: squared(&t.repeat_per_column(&numbers(&golden["sd_T"]))),
            squares: number(golden, "sd_q").powi(2),
            rows: 0.0,
        };
        let inputs = InputPosterior::Counts(SiteCountPosterior {
            mean: DVector::from_vec(numbers(&golden["counts"])),
            covariance: matrix(&golden["counts_covariance"]),
            unresolved: DMatrix::zeros(8, 8),
            concentration: number(golden, "alpha"),
            clumping: 0.0,
        });
        Self { features, released, inputs }
    }

    fn mixture(&self, grid: &HyperparameterGrid) -> SiteProcessPosterior {
        fit_site_mixture(&self.features, &self.released, &self.inputs, grid).unwrap()
    }
}

#[test]
fn sums_of_rows() {
    let golden = &golden("moments")["inference"];
    let x = numbers(&golden["x"]);
    let inputs = DMatrix::from_column_slice(x.len(), 1, &x);
    let (b, t) = (line(&golden["b_frequencies"]), line(&golden["t_frequencies"]));
    let sums = FeatureSums::new(&b.features(&inputs, 1.5), &t.features(&inputs, 1.5), &numbers(&golden["y"]));
    assert!((sums.weighted - DVector::from_vec(numbers(&golden["exact_b"]))).amax() < 1e-12);
    assert!((sums.plain - DVector::from_vec(numbers(&golden["exact_T"]))).amax() < 1e-12);
    assert_relative(sums.squares, number(golden, "exact_q"), 1e-12, "q");
}

#[test]
fn counts_of_sites() {
    let Golden { features, released, inputs } = Golden::read();
    let InputPosterior::Counts(counts) = inputs else { panic!("counts of sites") };
    let found = SiteCountPosterior::new(&features, &released).unwrap();
    assert_eq!(found.concentration, counts.concentration);
    assert!((&found.mean - counts.mean).amax() < 40.0 * 1e-6, "{}", found.mean);
    assert!((&found.covariance - counts.covariance).amax() < 1e-9);
    // Noise only adds to what is left open.
    let added = (&found.covariance - &found.unresolved).symmetric_eigenvalues().min();
    assert!(added > -1e-6 && found.unresolved.trace() < found.covariance.trace());
}

/// Noise that would make some counts negative: the constrained minimum is the only point where no feasible direction descends.
#[test]
fn counts_are_not_negative() {
    let Golden { features, mut released, .. } = Golden::read();
    released.plain /= 30.0;
    let SiteCountPosterior { mean, concentration, .. } = SiteCountPosterior::new(&features, &released).unwrap();
    assert!(mean.min() == 0.0 && (mean.sum() - 40.0).abs() < 1e-9, "{mean}");
    let scale = 1600.0 / (concentration + 1.0) + 40.0;
    let misfit = (features.plain.tr_mul(&mean) - &released.sums.plain).component_div(&released.plain);
    let slope = &features.plain * misfit + (&mean.add_scalar(-5.0)) * (8.0 / scale);
    let level = (0..8).filter(|g| mean[*g] > 1e-6).map(|g| slope[g]).fold(f64::NEG_INFINITY, f64::max);
    for site in 0..8 {
        // Equal where there are rows, and no less where there are none.
        assert!(slope[site] > level - 1e-5, "{site}: {slope} {mean}");
    }
}

fn graded(values: &[f64]) -> Vec<ValueWithLogPrior> {
    values.iter().map(|value| ValueWithLogPrior { value: *value, log_prior: 0.0 }).collect()
}

/// One choice of hyperparameters.
fn single(lengthscale: f64, variance: f64, noise: f64, bias: f64) -> HyperparameterGrid {
    let correlations = Arc::new(ExponentiatedQuadratic::isotropic(1.0, lengthscale));
    HyperparameterGrid {
        kernels: vec![KernelWithLogPrior { correlations, log_prior: 0.0 }],
        variances: graded(&[variance]),
        noises: graded(&[noise]),
        steps: 1,
        bias,
        first: variance,
    }
}

#[test]
fn one_choice_of_hyperparameters() {
    let golden = golden("moments");
    let release = Golden::read();
    for row in golden["inference"]["fits"].as_array().unwrap() {
        if number(row, "iterations") < 3.0 {
            continue;
        }
        let noise = number(row, "noise");
        let grid = single(number(row, "lengthscale"), number(row, "variance"), noise, 0.25);
        let at = numbers(&row["at"]);
        let found = release.mixture(&grid).predict(&DMatrix::from_column_slice(at.len(), 1, &at)).targets;
        assert!((found.mean() - DVector::from_vec(numbers(&row["mean"]))).amax() < 1e-6);
        let variance = DVector::from_vec(numbers(&row["variance_f"])).add_scalar(noise);
        assert!((found.variance() - variance).amax() < 1e-6);
    }
}

/// A log-normal density around a centre, up to a constant.
fn log_normal(value: f64, centre: f64, spread: f64) -> f64 {
    -0.5 * ((value / centre).ln() / spread).powi(2)
}

fn log_normals(values: &[f64], centre: f64, spread: f64) -> Vec<ValueWithLogPrior> {
    values
        .iter()
        .map(|value| ValueWithLogPrior { value: *value, log_prior: log_normal(*value, centre, spread) })
        .collect()
}

/// Noise variances between the nodes of a grid weigh as much as if each were a node of its own.
#[test]
fn noise_between_nodes_is_told_apart() {
    let mut release = Golden::read();
    // A sum of squares that tells the noise variance to a small part of the distance of two nodes.
    release.released.squares = 0.01;
    release.released.weighted /= 1e4;
    let steps = 5;
    let fine: Vec<f64> = (0..=5 * steps).map(|k| 0.0125 * 2f64.powf(k as f64 / steps as f64)).collect();
    let coarse: Vec<f64> = fine.iter().copied().step_by(steps).collect();
    let [one, other] = [(coarse, steps), (fine, 1)].map(|(noises, steps)| {
        let noises = log_normals(&noises, 0.05, 1.5);
        let grid = HyperparameterGrid { noises, steps, ..single(0.3, 0.25, 0.05, 0.25) };
        let found = release.mixture(&grid).predict(&DMatrix::from_element(1, 1, 0.4));
        found.targets.variance()[0] - found.function.variance()[0]
    });
    assert!((one / other - 1.0).abs() < 0.02, "{one} {other}");
}

#[test]
fn hyperparameters_are_averaged_by_their_evidence() {
    let golden = &golden("moments")["average"];
    let kernels = numbers(&golden["lengthscales"]).into_iter().map(|lengthscale| KernelWithLogPrior {
        correlations: Arc::new(ExponentiatedQuadratic::isotropic(1.0, lengthscale)),
        log_prior: log_normal(lengthscale, 0.3, 0.8),
    });
    let grid = HyperparameterGrid {
        kernels: kernels.collect(),
        variances: log_normals(&numbers(&golden["variances"]), 0.25, 1.2),
        noises: log_normals(&numbers(&golden["noises"]), 0.05, 1.5),
        steps: 1,
        bias: 0.25,
        first: 0.25,
    };
    let mixture = Golden::read().mixture(&grid);
    for (found, expected) in mixture.log_evidences().iter().zip(numbers(&golden["log_evidence"])) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    for (found, expected) in mixture.hyperparameter_weights().iter().zip(numbers(&golden["weights"])) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let at = numbers(&golden["at"]);
    let found = mixture.predict(&DMatrix::from_column_slice(at.len(), 1, &at)).targets;
    assert!((found.mean() - DVector::from_vec(numbers(&golden["mean"]))).amax() < 1e-6);
    assert!((found.variance() - DVector::from_vec(numbers(&golden["variance_y"]))).amax() < 1e-6);
    let means = mixture.means(&DMatrix::from_column_slice(at.len(), 1, &at));
    assert!((means - found.mean()).amax() < 1e-9, "means alone are the same");
}

/// Rows at the sites, their counts known, sums that tell the targets of all sites apart and hardly any noise: the process that
/// has seen every row.
#[test]
fn without_noise_it_is_the_exact_process() {
    let sites = box_midpoint_grid(1, 6);
    let rows = DMatrix::from_fn(18, 1, |row, _| sites[row % 6]);
    let targets: Vec<f64> = (0..18).map(|row| (0.7 * f64::from(row)).sin()).collect();
    let (b, t) = (Frequencies::ball(3, 9, 1), Frequencies::from_vectors([vec![1]]));
    let sums = FeatureSums::new(&b.features(&rows, 1.2), &t.features(&rows, 1.2), &targets);
    let released = NoisyFeatureSums {
        weighted: DVector::from_element(sums.weighted.len(), 1e-10),
        plain: DVector::from_element(2, 1e-10),
        squares: 1e-10,
        rows: 0.0,
        sums,
    };
    let counts = SiteCountPosterior {
        mean: DVector::from_element(6, 3.0),
        covariance: DMatrix::zeros(6, 6),
        unresolved: DMatrix::zeros(6, 6),
        concentration: 1.0,
        clumping: 0.0,
    };
    let (weighted, plain) = (b.features(&sites, 1.2), t.features(&sites, 1.2));
    let features = SiteFeatures {
        weighted,
        plain,
        between: None,
        gram: None,
        shares: CountingSites::from_even_points(sites.clone()).shares,
        sites,
    };
    let mixture =
        fit_site_mixture(&features, &released, &InputPosterior::Counts(counts), &single(0.4, 0.8, 0.1, 0.0)).unwrap();
    let at = box_midpoint_grid(1, 11);
    let kernel = ExponentiatedQuadratic::isotropic(0.8, 0.4);
    let map = exact_prediction_map(&kernel, 0.1, &rows, &at).unwrap();
    let found = mixture.predict(&at).targets;
    assert!((found.mean() - map.predict(&targets)).amax() < 1e-6);
    let of_f = found.variance().add_scalar(-0.1);
    assert!((mixture.variance_under_noiseless_sums(&at).unwrap() - of_f).amax() < 1e-6);
}

/// The prior, where noise drowns everything; never more than the prior in between.
#[test]
fn noise_leads_back_to_the_prior() {
    let mut release = Golden::read();
    let at = box_midpoint_grid(1, 9);
    for _ in 0..8 {
        let found = release.mixture(&single(0.3, 0.25, 0.05, 0.25)).predict(&at).targets;
        assert!(found.variance().max() <= 0.55 + 1e-12 && found.variance().min() > 0.05, "{}", found.variance());
        for variances in [&mut release.released.weighted, &mut release.released.plain] {
            *variances *= 100.0;
        }
    }
    let drowned = release.mixture(&single(0.3, 0.25, 0.05, 0.25)).predict(&at).targets;
    assert!(drowned.mean().amax() < 1e-6 && drowned.variance().min() > 0.55 - 1e-6);
}

/// Twelve sites on a line, and the sums of 10^5 rows at five places between them, with noise that such rows hardly see.
struct Gathered {
    features: SiteFeatures,
    released: NoisyFeatureSums,
}

const PLACES: [f64; 5] = [0.08, 0.29, 0.46, 0.71, 0.92];

/// The function there.
fn height(x: f64) -> f64 {
    0.4 + 0.2 * (4.0 * x).sin()
}

impl Gathered {
    fn new() -> Self {
        let each = 20_000.0;
        let places = DMatrix::from_column_slice(5, 1, &PLACES);
        let (b, t) = (Frequencies::ball(3, 9, 1), Frequencies::ball(6, 36, 1));
        let t = t.filter_flagged(&(0..t.len()).map(|k| k > 0).collect::<Vec<bool>>());
        let heights: Vec<f64> = PLACES.iter().map(|x| height(*x)).collect();
        let mut sums = FeatureSums::new(&b.features(&places, 1.2), &t.features(&places, 1.2), &heights);
        sums.rows = 100_000;
        sums.weighted *= each;
        sums.plain *= each;
        sums.squares *= each;
        let released = NoisyFeatureSums {
            weighted: DVector::from_element(sums.weighted.len(), 9.0),
            plain: DVector::from_element(sums.plain.len(), 9.0),
            squares: 9.0,
            rows: 0.0,
            sums,
        };
        let sites = box_midpoint_grid(1, 12);
        let turns = std::f64::consts::TAU / 12.0 / 1.2;
        let errors: Vec<f64> = t
            .vectors()
            .iter()
            .map(|j| SiteInterpolationVariance::cosine_mean_square_error(&[turns * j[0] as f64]))
            .collect();
        let features = SiteFeatures {
            weighted: b.features(&sites, 1.2),
            plain: t.features(&sites, 1.2),
            between: Some(SiteInterpolationVariance { spacing: 1.0 / 12.0, plain: t.repeat_per_column(&errors) }),
            gram: None,
            shares: CountingSites::from_even_points(sites.clone()).shares,
            sites,
        };
        Self { features, released }
    }

    /// The root mean square error at the places, and what is expected of it.
    fn errors(&self) -> [f64; 2] {
        let inputs = InputPosterior::new(&self.features, &self.released).unwrap();
        let mixture = fit_site_mixture(&self.features, &self.released, &inputs, &single(0.3, 0.1, 0.01, 0.25)).unwrap();
        let found = mixture.predict(&DMatrix::from_column_slice(5, 1, &PLACES)).targets;
        let mean = found.mean();
        let squares = PLACES.iter().zip(mean.iter()).map(|(x, mean)| (height(*x) - mean).powi(2));
        [squares.sum::<f64>() / 5.0, found.variance().add_scalar(-0.01).mean()].map(f64::sqrt)
    }
}

/// No counts at sites make the sums of rows between them. Taken for such counts, they give a function that is wrong by half of its
/// variation (.11), and certain of itself.
#[test]
fn rows_between_sites_are_not_taken_for_rows_at_sites() {
    let mut gathered = Gathered::new();
    let [error, expected] = gathered.errors();
    assert!(error < 0.02 && error < 3.0 * expected, "{error} {expected}");
    gathered.features.between = None;
    let [error, expected] = gathered.errors();
    assert!(error > 0.04 && error > 30.0 * expected, "{error} {expected}");
}

//! Fourier moments: their sensitivity by neighbours that are tried, their weights, and their whole numbers.

use dpgp::gp::sites::{FeatureSums, Lattice, LatticeCellCountAndSum, LatticeCountsAndSums, PublicReferenceModel};
use dpgp::kernel::BoxKernel;
use dpgp::number::Positive;
use dpgp::privacy::{
    Calibration, FourierMomentsDesign, FourierSensitivityRule, Frequencies, FrequencyPairTable, IntegerFourierMoments,
    PhaseTable, SitePrior, WeightRiskObjective,
};
use nalgebra::{DMatrix, DVector};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

use crate::support::golden::{assert_relative, golden, number, numbers};

/// The whole vectors of a golden list.
fn vectors(value: &Value) -> Vec<Vec<i64>> {
    let rows = value.as_array().unwrap().iter();
    rows.map(|row| numbers(row).into_iter().map(|entry| entry as i64).collect()).collect()
}

#[test]
fn frequencies_fill_half_a_ball() {
    for row in golden("moments")["half_space"].as_array().unwrap() {
        let radius = row["radius"].as_f64().map_or(i64::MAX, |radius| (radius * radius) as i64);
        let ball = Frequencies::ball(row["J"].as_i64().unwrap(), radius, number(row, "d") as usize);
        assert_eq!(ball.vectors(), vectors(&row["frequencies"]));
    }
}

#[test]
fn plain_weights_are_those_of_a_square() {
    let golden = golden("moments");
    for row in [&golden["pair_table"], &golden["pair_table_2d"]] {
        let table = FrequencyPairTable::new(&Frequencies::from_vectors(vectors(&row["frequencies"])));
        assert_eq!(table.frequencies.vectors(), vectors(&row["k"]));
        let found = table.autoconvolution(&numbers(&row["u"]));
        for (found, expected) in found.iter().zip(numbers(&row["autoconvolution"])) {
            assert_relative(*found, expected, 1e-12, "autoconvolution");
        }
    }
}

#[test]
fn the_closed_form_of_the_sensitivity() {
    for row in golden("moments")["sensitivity"].as_array().unwrap() {
        let [total, bound] = ["sum_u", "R"].map(|key| Positive::new(number(row, key)).unwrap());
        let rule = FourierSensitivityRule::new(total, bound, number(row, "kappa")).unwrap();
        assert_relative(rule.sensitivity(), number(row, "D"), 1e-12, "D");
        assert_relative(rule.plain_weight_factor(), number(row, "c"), 1e-12, "c");
        assert_relative(rule.squared_target_sum_weight(), number(row, "q"), 1e-12, "q");
    }
    for kappa in [0.999_999, -1.0, f64::NAN, f64::INFINITY] {
        assert!(FourierSensitivityRule::new(Positive::ONE, Positive::ONE, kappa).is_err(), "{kappa}");
    }
}

/// An exponentiated quadratic kernel on the unit box.
fn kernel(variance: f64, lengthscales: &[f64]) -> BoxKernel {
    let text = format!("eq-ard = {{ variance = {variance:?}, lengthscales = {lengthscales:?} }}");
    BoxKernel::new(&toml::from_str(&text).unwrap(), vec![1.0; lengthscales.len()]).unwrap()
}

#[test]
fn weights_of_least_risk() {
    let golden = &golden("moments")["weights"];
    let reference = PublicReferenceModel {
        rows: 258,
        bound: 1.0,
        bias: 0.25,
        kernel: kernel(0.25, &[number(golden, "lengthscale")]),
        noise_variance: 0.025,
        concentration: 10.0,
    };
    let sigma = Calibration::Analytic.sigma(1.0, 1e-5);
    assert_relative(sigma, number(golden, "sigma"), 1e-9, "sigma");
    let search = WeightRiskObjective::new(&SitePrior::new(&reference), Frequencies::ball(3, 9, 1), 1.2);
    let rule = FourierSensitivityRule::new(Positive::ONE, Positive::ONE, 1.5).unwrap();
    let uniform = search.minimise_risk(&rule, sigma, vec![0.25; 4], 1).unwrap();
    assert_relative(uniform.risk, number(golden, "risk_at_uniform"), 1e-8, "risk of uniform weights");
    let found = search.minimise_risk(&rule, sigma, vec![0.25; 4], 200).unwrap();
    assert_relative(found.risk, number(golden, "risk"), 1e-8, "risk");
    for (found, expected) in found.weights.iter().zip(numbers(&golden["u"])) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
}

/// A release in units of its noise per unit of sensitivity: what the theorem bounds.
fn in_units(design: &FourierMomentsDesign, sums: &FeatureSums) -> DVector<f64> {
    let weighted = design.frequencies.repeat_per_column(&design.weights).map(f64::sqrt);
    let plain = design.pairs.repeat_per_column(&design.pair_weights).map(f64::sqrt);
    let mut numbers = weighted.component_mul(&sums.weighted).as_slice().to_vec();
    numbers.extend(plain.component_mul(&sums.plain).iter());
    numbers.push(design.rule.squared_target_sum_weight().sqrt() * sums.squares);
    DVector::from_vec(numbers)
}

/// A record in or at the ends of its box and bound.
fn record(design: &FourierMomentsDesign, dimensions: usize, random: &mut Pcg64) -> FeatureSums {
    let x = DMatrix::from_fn(1, dimensions, |_, _| random.random::<f64>());
    design.compute_moments(&x, &[design.rule.target_bound() * (3.0 * random.random::<f64>() - 1.5)])
}

fn random_design(dimensions: usize, random: &mut Pcg64) -> FourierMomentsDesign {
    let side = [6, 2, 1][dimensions - 1];
    let all = Frequencies::ball(side, i64::MAX, dimensions);
    let kept: Vec<bool> = (0..all.len()).map(|j| j == 0 || random.random::<f64>() < 0.7).collect();
    let frequencies = all.filter_flagged(&kept);
    let weights = (0..frequencies.len()).map(|_| -random.random::<f64>().ln()).collect();
    let [period, bound, kappa] = [1.0, 0.5, 1.0].map(|low| low + 2.5 * random.random::<f64>());
    FourierMomentsDesign::from_weights(frequencies, weights, period, bound, kappa).unwrap()
}

#[test]
fn no_pair_of_records_is_further_apart_than_the_theorem_says() {
    let mut random = Pcg64::seed_from_u64(3);
    for trial in 0..200 {
        let dimensions = 1 + trial % 3;
        let design = random_design(dimensions, &mut random);
        let most = design.rule.sensitivity();
        for _ in 0..60 {
            let [one, other] = [(); 2].map(|()| record(&design, dimensions, &mut random));
            let moved = (in_units(&design, &one) - in_units(&design, &other)).norm();
            assert!(moved <= most * (1.0 + 1e-12), "{trial}: {moved} > {most}");
        }
    }
}

/// With V anywhere in [-V_0, V_0] the worst targets reach the bound.
#[test]
fn the_bound_is_the_least_one() {
    for kappa in [1.0, 1.4, 2.0, 5.0] {
        let rule = FourierSensitivityRule::new(Positive::ONE, Positive::ONE, kappa).unwrap();
        let mut worst = 0.0f64;
        for place in 0..=8000 {
            let v = place as f64 / 4000.0 - 1.0;
            for (y, z) in (-20..=20).flat_map(|y| (-20..=20).map(move |z| (f64::from(y) / 20.0, f64::from(z) / 20.0))) {
                let squares =
                    y * y + z * z - 2.0 * y * z * v + rule.squared_target_sum_weight() * (y * y - z * z).powi(2);
                worst = worst.max(2.0 * rule.plain_weight_factor() * (1.0 - v * v) + squares);
            }
        }
        let ratio = worst / rule.sensitivity().powi(2);
        assert!(ratio <= 1.0 + 1e-12 && ratio > 1.0 - 1e-6, "{kappa}: {ratio}");
    }
}

fn reference(rows: usize, lengthscales: &[f64]) -> PublicReferenceModel {
    PublicReferenceModel {
        rows,
        bound: 2.0,
        bias: 1.0,
        kernel: kernel(1.0, lengthscales),
        noise_variance: 0.1,
        concentration: 10.0,
    }
}

/// In units of the noise that is drawn, one record moves the release by 1 / sigma at most: what a certificate states.
#[test]
fn the_noise_covers_neighbours() {
    let (sigma, mut random) = (2.5, Pcg64::seed_from_u64(5));
    let design =
        FourierMomentsDesign::with_least_risk(&reference(300, &[0.3]), sigma, &FourierMomentsDesign::PERIODS).unwrap();
    assert!(design.risk > 0.0 && design.risk < 2.0, "below the prior: {}", design.risk);
    let noise = design.noise(sigma);
    let mut largest = 0.0f64;
    for trial in 0..4000 {
        let [mut one, mut other] = [(); 2].map(|()| record(&design, 1, &mut random));
        if trial % 2 == 0 {
            let x = DMatrix::from_element(1, 1, random.random::<f64>());
            [one, other] = [2.0, -2.0].map(|y| design.compute_moments(&x, &[y]));
        }
        let moved = (&one.weighted - &other.weighted).component_div(&noise.weighted).norm_squared()
            + (&one.plain - &other.plain).component_div(&noise.plain).norm_squared()
            + ((one.squares - other.squares) / noise.squares).powi(2);
        largest = largest.max(moved.sqrt());
    }
    // Opposite targets at one input move b alone, by 2 R sqrt(V_0).
    let opposite = 4.0 / design.rule.sensitivity() / sigma;
    assert!(largest <= 1.0 / sigma && largest >= opposite * (1.0 - 1e-9), "{largest}");
}

/// The sample variance of draws is that which is stated.
#[test]
fn what_is_stated_is_drawn() {
    let design = FourierMomentsDesign::with_least_risk(&reference(300, &[0.5]), 2.0, &[1.4]).unwrap();
    assert_eq!(design.period, 1.4);
    let noise = design.noise(2.0);
    let none = design.compute_moments(&DMatrix::zeros(0, 1), &[]);
    let mut random = Pcg64::seed_from_u64(1);
    let (draws, mut ratios) = (2000, 0.0);
    for _ in 0..draws {
        let noisy = noise.simulate_release(&none, &mut random);
        let [b, t] = [(&noisy.sums.weighted, &noisy.weighted), (&noisy.sums.plain, &noisy.plain)]
            .map(|(drawn, stated)| drawn.component_mul(drawn).component_div(stated).mean());
        ratios += (b + t + noisy.sums.squares.powi(2) / noisy.squares) / 3.0;
    }
    // The last number alone has a relative standard error of sqrt(2 / draws) = 0.032, and a third of the weight.
    assert!((ratios / f64::from(draws) - 1.0).abs() < 0.05, "{ratios}");
}

/// A record that is left out moves the numbers and the number of rows by no more than one that is replaced, and by nearly as much
/// where its frequencies are few.
#[test]
fn a_record_that_is_left_out_is_covered() {
    let mut random = Pcg64::seed_from_u64(11);
    let mut largest = 0.0f64;
    for trial in 0..200 {
        let dimensions = 1 + trial % 3;
        let mut design = random_design(dimensions, &mut random);
        if trial % 10 == 0 {
            design =
                FourierMomentsDesign::from_weights(Frequencies::ball(1, 1, 1), vec![1e-3, 1.0], 1.2, 1.0, 1.0).unwrap();
        }
        let inputs = DMatrix::from_fn(1, design.frequencies.vectors()[0].len(), |_, _| random.random::<f64>());
        let one = design.compute_moments(&inputs, &[design.rule.target_bound()]);
        let moved = (in_units(&design, &one).norm_squared() + design.rule.row_count_weight()).sqrt();
        let ratio = moved / design.rule.sensitivity();
        assert!(ratio <= 1.0 + 1e-12, "{trial}: {ratio}");
        largest = largest.max(ratio);
    }
    assert!(largest > 0.9, "{largest}");
}

/// Rows on a lattice, for targets in units of `3 2^-20`.
struct LatticeRows {
    lattice: Lattice,
    rows: Vec<LatticeCellCountAndSum>,
}

const UNIT: f64 = 3.0 / 1_048_576.0;

impl LatticeRows {
    fn new(random: &mut impl Rng) -> Self {
        let lattice = Lattice::new(64, 2);
        let row = |_| {
            let point = [(); 2].map(|()| 1.5 * random.random::<f64>() - 0.25);
            let targets = ((2.0 * random.random::<f64>() - 1.0) * 1_048_576.0) as i64;
            LatticeCellCountAndSum { place: lattice.cell_index(&point), rows: 1, targets }
        };
        Self { lattice, rows: (0..50).map(row).collect() }
    }

    /// The rows of some cells, a cell for each or one cell for all that share a place.
    fn counted(&self, rows: &[LatticeCellCountAndSum]) -> LatticeCountsAndSums {
        let squares = rows.iter().map(|row| i128::from(row.targets).pow(2)).sum();
        LatticeCountsAndSums { lattice: self.lattice, rows: rows.len() as u64, cells: rows.to_vec(), squares }
    }

    /// Their moments in doubles.
    fn real(&self, design: &FourierMomentsDesign, rows: &[LatticeCellCountAndSum]) -> FeatureSums {
        let points: Vec<f64> = rows.iter().flat_map(|row| self.lattice.midpoint(row.place)).collect();
        let targets: Vec<f64> = rows.iter().map(|row| row.targets as f64 * UNIT).collect();
        design.compute_moments(&DMatrix::from_row_slice(rows.len(), 2, &points), &targets)
    }
}

#[test]
fn whole_moments_are_those_of_the_lattice() {
    let mut random = Pcg64::seed_from_u64(9);
    let rows = LatticeRows::new(&mut random);
    let frequencies = Frequencies::ball(2, 4, 2);
    let weights = vec![1.0 / frequencies.len() as f64; frequencies.len()];
    let design = FourierMomentsDesign::from_weights(
        frequencies,
        weights,
        rows.lattice.nearest_whole_cell_period(1.41),
        3.0,
        1.4,
    )
    .unwrap();
    assert_eq!(design.period, 90.0 / 64.0);
    let error = 0.5 * (design.lattice_sensitivity() - design.rule.sensitivity());
    assert!(error > 0.0 && error < 1e-10);
    for row in &rows.rows {
        let row = std::slice::from_ref(row);
        let whole = IntegerFourierMoments::new(&design, &rows.counted(row)).unwrap().to_real_units(UNIT);
        let off = (in_units(&design, &whole) - in_units(&design, &rows.real(&design, row))).norm();
        // Doubles err by their rounding, which is less.
        assert!(off <= error + 1e-13, "{off} {error}");
    }
    let whole = IntegerFourierMoments::new(&design, &rows.counted(&rows.rows)).unwrap();
    let exact = rows.real(&design, &rows.rows);
    assert!(
        (in_units(&design, &whole.to_real_units(UNIT)) - in_units(&design, &exact)).norm() <= 50.0 * (error + 1e-13)
    );
    let mut reversed = rows.rows.clone();
    reversed.reverse();
    assert_eq!(whole, IntegerFourierMoments::new(&design, &rows.counted(&reversed)).unwrap(), "exact in any order");
    let noise = design.lattice_noise(1.0);
    let noisy = whole.release(&noise, UNIT, &mut random).unwrap();
    assert!((noisy.sums.weighted - exact.weighted).component_div(&noise.weighted).amax() < 6.0);
    assert!((noisy.sums.squares - exact.squares).abs() < 6.0 * noise.squares);
    assert_eq!((noisy.sums.rows, noisy.rows), (50, 0.0), "the number of rows is public");
    let counted = FourierMomentsDesign { counted: true, ..design.clone() };
    let noisy = whole.release(&counted.lattice_noise(1.0), UNIT, &mut random).unwrap();
    assert!((noisy.sums.rows as f64 - 50.0).abs() < 6.0 * noisy.rows.sqrt() && noisy.rows > 0.0);
    let elsewhere = FourierMomentsDesign { period: 1.4, ..design };
    assert!(IntegerFourierMoments::new(&elsewhere, &rows.counted(&rows.rows)).is_err(), "no whole number of cells");
}

#[test]
fn a_table_needs_a_period_that_holds_the_box() {
    assert!(PhaseTable::new(0, 4).is_err() && PhaseTable::new(5, 4).is_err());
    assert!(PhaseTable::new(4, 1 << 21).is_err() && PhaseTable::new(4, 4).is_ok());
    let lattice = Lattice::new(4, 1);
    assert_eq!([f64::NAN, -1e300, 1e300, 0.9999].map(|x| lattice.axis_cell_index(x)), [0, 0, 3, 3]);
    for place in [0, 17, 4095] {
        let lattice = Lattice::new(16, 3);
        assert_eq!(lattice.cell_index(&lattice.midpoint(place)), place);
    }
}

/// No weights have an expected error below the bound, and the best that are found come close to it.
#[test]
fn no_weights_err_less_than_the_bound() {
    let sigma = Calibration::Analytic.sigma(1.0, 1e-5);
    let mut random = Pcg64::seed_from_u64(7);
    for (rows, lengthscales) in [(258, vec![0.12]), (10_000, vec![0.25]), (1024, vec![0.3, 0.3])] {
        let reference = reference(rows, &lengthscales);
        let side = [6, 2][lengthscales.len() - 1];
        let frequencies = Frequencies::ball(side, side * side, lengthscales.len());
        let search = WeightRiskObjective::new(&SitePrior::new(&reference), frequencies.clone(), 1.2);
        for kappa in [1.0, 2.0] {
            let rule = FourierSensitivityRule::new(Positive::ONE, Positive::ONE, kappa).unwrap();
            let bound = search.risk_lower_bound(&rule, sigma, 20).unwrap();
            for power in [0.0, 1.0, 3.0] {
                let weights = (0..frequencies.len()).map(|_| random.random::<f64>().powf(power) + 1e-6);
                let weights: Vec<f64> = weights.collect();
                let total: f64 = weights.iter().sum();
                let start = weights.iter().map(|weight| weight / total).collect();
                let risk = search.minimise_risk(&rule, sigma, start, 1).unwrap().risk;
                assert!(risk >= bound, "{rows} {kappa} {power}: {risk} {bound}");
            }
            let uniform = vec![1.0 / frequencies.len() as f64; frequencies.len()];
            let found = search.minimise_risk(&rule, sigma, uniform, 200).unwrap().risk;
            println!("{rows} {kappa}: {found} {bound} {}", found / bound - 1.0);
            assert!(found >= bound && found < 1.5 * bound, "{rows} {kappa}: {found} {bound}");
        }
        let design = FourierMomentsDesign::with_least_risk(&reference, sigma, &FourierMomentsDesign::PERIODS).unwrap();
        let bound = FourierMomentsDesign::risk_lower_bound(&reference, sigma, &FourierMomentsDesign::PERIODS).unwrap();
        println!("design {} {} {}", design.risk, bound, design.risk / bound - 1.0);
        assert!(design.risk >= bound);
    }
}

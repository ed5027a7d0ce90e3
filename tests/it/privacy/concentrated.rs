//! Zero-concentrated privacy, CoinPress and private selection: laws, and values computed elsewhere.

use dpgp::number::Budget;
use dpgp::privacy::{
    CoinPressStepDesign, MeanInterval, PrivateSelection, coinpress_mean, gaussian_delta, gaussian_rho_budget,
    normal_tail_radius, split_coinpress_budget, zcdp_epsilon, zcdp_epsilon_classic, zcdp_rho, zcdp_rho_classic,
    zcdp_rho_of_pure,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use serde_json::Value;

use crate::support::golden::{assert_relative, calibration, golden, number, numbers};
use crate::support::mersenne::Mersenne;

#[test]
fn conversions_of_zero_concentrated_privacy() {
    for row in &calibration("zcdp_to_approxdp") {
        let (rho, delta) = (number(row, "rho"), number(row, "delta"));
        assert_relative(zcdp_epsilon_classic(rho, delta), number(row, "eps_classic"), 1e-10, row);
        assert_relative(zcdp_rho_classic(number(row, "eps_classic"), delta), rho, 1e-10, row);
        assert_relative(zcdp_epsilon(rho, delta), number(row, "eps_cks"), 1e-10, row);
        assert_relative(zcdp_rho(number(row, "eps_cks"), delta), number(row, "opendp_rho"), 1e-10, row);
        assert_relative(gaussian_rho_budget(number(row, "gaussian_exact_same_rho"), delta), rho, 1e-9, row);
    }
    for row in &calibration("eps_to_rho_pure") {
        assert_relative(zcdp_rho_of_pure(number(row, "eps")), number(row, "rho"), 1e-15, row);
    }
}

#[test]
fn tail_bounds() {
    for row in golden("coinpress")["tailbound"].as_array().unwrap() {
        let row = numbers(row);
        assert!((normal_tail_radius(row[0] as usize, row[1]) / row[2] - 1.0).abs() < 1e-12, "{row:?}");
    }
}

/// Every run from its seeds: data, noise, and each step's radius, clip, sensitivity, noise and centre.
#[test]
fn runs_of_coinpress() {
    for run in golden("coinpress")["runs"].as_array().unwrap() {
        let (n, d) = (run["n"].as_u64().unwrap() as usize, run["d"].as_u64().unwrap() as usize);
        let mut source = Mersenne::new(7);
        let mut rows: Vec<Vec<f64>> = vec![vec![0.0; d]; n];
        rows.iter_mut().flatten().for_each(|x| *x = number(run, "true_mean") + source.normal());
        if !run["X"].is_null() {
            let held = numbers(&run["X"]);
            assert!(rows.iter().zip(&held).all(|(row, x)| (row[0] - x).abs() < 1e-12));
        }
        check_run(run, rows);
    }
}

fn check_run(run: &Value, mut rows: Vec<Vec<f64>>) {
    let (n, d) = (rows.len(), rows[0].len());
    let mut noise = Mersenne::new(99);
    let (mut centre, mut radius) = (numbers(&run["c0"]), number(run, "r0"));
    let steps = run["steps"].as_array().unwrap();
    let shares = numbers(&run["Ps"]);
    if steps.len() > 1 {
        let ours = split_coinpress_budget(steps.len(), number(run, "rho_total"));
        assert!(ours.iter().zip(&shares).all(|(a, b)| (a / b - 1.0).abs() < 1e-12));
    }
    for (held, rho) in steps.iter().zip(shares) {
        let step = CoinPressStepDesign::new(n, d, radius, rho);
        assert_relative(radius, number(held, "r_in"), 1e-10, held);
        assert_relative(step.clip, number(held, "clip_thresh"), 1e-10, held);
        assert_relative(step.sensitivity, number(held, "sens"), 1e-10, held);
        assert_relative(step.sd, number(held, "noise_sd"), 1e-10, held);
        rows.iter_mut().for_each(|row| clip(row, &centre, step.clip));
        for (j, c) in centre.iter_mut().enumerate() {
            *c = rows.iter().map(|row| row[j]).sum::<f64>() / n as f64 + step.sd * noise.normal();
        }
        for (c, expected) in centre.iter().zip(numbers(&held["c_out"])) {
            assert_relative(*c, expected, 1e-10, held);
        }
        radius = step.next_radius;
        assert_relative(radius, number(held, "r_out"), 1e-10, held);
    }
}

fn clip(row: &mut [f64], centre: &[f64], radius: f64) {
    let distance = row.iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum::<f64>().sqrt();
    if distance > radius {
        row.iter_mut().zip(centre).for_each(|(x, c)| *x = c + (*x - c) * radius / distance);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn inverses_and_order(epsilon in 0.05..20.0f64, exponent in -12.0..-1.0f64) {
        let delta = 10f64.powf(exponent);
        let (classic, tight, exact) =
            (zcdp_rho_classic(epsilon, delta), zcdp_rho(epsilon, delta), gaussian_rho_budget(epsilon, delta));
        prop_assert!(classic <= tight && tight <= exact * (1.0 + 1e-9));
        prop_assert!((zcdp_epsilon(tight, delta) / epsilon - 1.0).abs() < 1e-9);
        prop_assert!(zcdp_epsilon(tight, delta) <= epsilon);
        let spent = gaussian_delta(1.0 / (2.0 * exact).sqrt(), epsilon);
        prop_assert!(spent <= delta * (1.0 + 1e-9) && spent > 0.99 * delta);
    }
}

#[test]
fn a_far_mean_is_found_from_loose_bounds() {
    let mut stream = Pcg64::from_seed([5; 32]);
    let mut error = 0.0;
    for _ in 0..50 {
        let normals: Vec<f64> = (0..2000).map(|_| StandardNormal.sample(&mut stream)).collect();
        let mut values: Vec<f64> = normals.iter().map(|z| 40.0 + z).collect();
        let loose = MeanInterval { centre: 0.0, radius: 1000.0 };
        let mean = coinpress_mean(&mut values, loose, &split_coinpress_budget(5, 0.5), &mut stream);
        error += (mean - 40.0_f64).powi(2) / 50.0;
    }
    assert!(error.sqrt() < 0.04, "{error}");
}

#[test]
fn shares_sum_to_rho() {
    let shares = split_coinpress_budget(12, 2.0);
    assert!((shares.iter().sum::<f64>() - 2.0).abs() < 1e-15 && shares[11] == 1.5);
    assert_eq!(split_coinpress_budget(1, 2.0), [2.0]);
}

/// The figures of the protocol, computed independently: t0 = 7.8392e-6, delta = 3.0727e-15, T = 1176.
#[test]
fn figures_of_the_protocol() {
    let selection = PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.01).unwrap();
    assert!((selection.root / 7.8392e-6 - 1.0).abs() < 1e-5);
    assert!((selection.draw.delta.get() / 3.0727e-15 - 1.0).abs() < 2e-5);
    assert_eq!(selection.most, 1176);
    assert!((selection.draw.epsilon.get() - (1.0 - 7.8e-8)).abs() < 1e-9);
    let t = selection.root;
    assert!((t * (1.0 - t.ln()) / 1e-4 - 1.0).abs() < 1e-12);
    let total = selection.gamma * t * (-t.ln() / selection.gamma) + t;
    assert!((total / 1e-4 - 1.0).abs() < 1e-12);
    assert!(PrivateSelection::new(Budget::new(1e-9, 1e-4).unwrap(), 0.01).is_none());
}

#[test]
fn the_greatest_score_wins_and_the_stop_is_geometric() {
    let selection = PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.05).unwrap();
    let mut stream = Pcg64::from_seed([9; 32]);
    let mut draws = 0;
    for _ in 0..2000 {
        let mut greatest = f64::NEG_INFINITY;
        let best = selection.select(&mut stream, |stream: &mut Pcg64| -> Result<_, ()> {
            draws += 1;
            let score: f64 = stream.random();
            if score > 0.5 {
                greatest = greatest.max(score)
            };
            Ok((score > 0.5).then_some((score, score)))
        });
        assert_eq!(best.unwrap().unwrap_or(f64::NEG_INFINITY), greatest);
    }
    let mean = f64::from(draws) / 2000.0;
    assert!((mean - 20.0).abs() < 1.5, "{mean}");
}

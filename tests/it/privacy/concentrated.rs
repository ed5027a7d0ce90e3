//! Zero-concentrated privacy and CoinPress against values computed elsewhere.

use dpgp::privacy::{
    CoinPressStep, coinpress_shares, gaussian_rho, tail_bound, zcdp_epsilon, zcdp_epsilon_classic, zcdp_rho,
    zcdp_rho_classic, zcdp_rho_of_pure,
};
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
        assert_relative(gaussian_rho(number(row, "gaussian_exact_same_rho"), delta), rho, 1e-9, row);
    }
    for row in &calibration("eps_to_rho_pure") {
        assert_relative(zcdp_rho_of_pure(number(row, "eps")), number(row, "rho"), 1e-15, row);
    }
}

#[test]
fn tail_bounds() {
    for row in golden("coinpress")["tailbound"].as_array().unwrap() {
        let row = numbers(row);
        assert!((tail_bound(row[0] as usize, row[1]) / row[2] - 1.0).abs() < 1e-12, "{row:?}");
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
        let ours = coinpress_shares(steps.len(), number(run, "rho_total"));
        assert!(ours.iter().zip(&shares).all(|(a, b)| (a / b - 1.0).abs() < 1e-12));
    }
    for (held, rho) in steps.iter().zip(shares) {
        let step = CoinPressStep::new(n, d, radius, rho);
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

//! Gaussian calibrations: laws, and values computed with 50 digits elsewhere.

use dpgp::privacy::{Calibration, PrivacyBudget, composed_mu, gaussian_delta};
use proptest::prelude::*;

use crate::support::golden::{assert_relative, calibration, number};

#[test]
fn analytic_sigma() {
    for row in calibration("analytic_gaussian_sens1") {
        let sigma = Calibration::Analytic.sigma(number(&row, "eps"), number(&row, "delta"));
        assert_relative(sigma, number(&row, "sigma"), 1e-10, &row);
        let classic = Calibration::Classic.sigma(number(&row, "eps"), number(&row, "delta"));
        assert_relative(classic, number(&row, "classic_sqrt2log2"), 1e-14, &row);
    }
}

#[test]
fn analytic_sigma_scales_with_the_sensitivity() {
    for row in calibration("analytic_gaussian_sens_grid") {
        let sigma = Calibration::Analytic.sigma(number(&row, "eps"), number(&row, "delta"));
        assert_relative(number(&row, "sens") * sigma, number(&row, "sigma"), 1e-10, &row);
    }
}

#[test]
fn exact_delta() {
    for row in calibration("gaussian_delta_given_sigma_eps") {
        let delta = gaussian_delta(number(&row, "sigma"), number(&row, "eps"));
        assert_relative(delta, number(&row, "delta"), 1e-10, &row);
    }
    for row in calibration("classic_formula_check") {
        let delta = gaussian_delta(number(&row, "sigma_classic2"), number(&row, "eps"));
        assert_relative(delta, number(&row, "true_delta"), 1e-8, &row);
    }
}

#[test]
fn the_constants_of_the_protocol() {
    let analytic = Calibration::Analytic.sigma(1.0, 0.01);
    assert!((analytic / 1.877875560907386 - 1.0).abs() < 1e-12);
    for (epsilon, delta, half_digit) in
        [(5.0, 0.0022, 5e-5), (10.0, 0.0245, 5e-5), (20.0, 0.367, 5e-4), (50.0, 0.99999, 5e-6)]
    {
        let exact = gaussian_delta(Calibration::Classic.sigma(epsilon, 0.01), epsilon);
        assert!((exact - delta).abs() <= half_digit, "{epsilon}: {exact}");
    }
}

proptest! {
    #[test]
    fn delta_falls_with_sigma_and_epsilon(sigma in 0.1..20.0f64, epsilon in 0.01..8.0f64) {
        let delta = gaussian_delta(sigma, epsilon);
        prop_assert!(gaussian_delta(1.1 * sigma, epsilon) <= delta);
        prop_assert!(gaussian_delta(sigma, 1.1 * epsilon) <= delta);
    }

    #[test]
    fn analytic_noise_spends_delta_and_no_more(epsilon in 0.05..10.0f64, exponent in -10.0..-1.0f64) {
        let delta = 10f64.powf(exponent);
        let sigma = Calibration::Analytic.sigma(epsilon, delta);
        let spent = gaussian_delta(sigma, epsilon);
        prop_assert!(spent <= delta * (1.0 + 1e-12));
        prop_assert!(spent >= delta * (1.0 - 1e-6));
    }

    #[test]
    fn classic_noise_is_safe_within_its_proof(epsilon in 0.01..1.0f64, exponent in -10.0..-1.0f64) {
        let delta = 10f64.powf(exponent);
        prop_assert!(gaussian_delta(Calibration::Classic.sigma(epsilon, delta), epsilon) <= delta);
    }
}

#[test]
fn no_privacy_asks_for_no_noise() {
    assert_eq!(Calibration::Classic.sigma(f64::INFINITY, 0.01), 0.0);
    assert_eq!(Calibration::Analytic.sigma(f64::INFINITY, 0.01), 0.0);
    assert_eq!(gaussian_delta(0.0, 3.0), 1.0);
}

proptest! {
    /// What is left fills the budget and nothing beyond it fits.
    #[test]
    fn what_is_left_fills_the_budget(epsilon in 0.1..8.0f64, exponent in -9.0..-2.0f64, share in 0.0..0.99f64) {
        let budget = PrivacyBudget { epsilon, delta: 10f64.powf(exponent) };
        let spent = share * budget.remaining_mu(0.0);
        let left = budget.remaining_mu(spent);
        prop_assert!(budget.admits(composed_mu([spent, left * (1.0 - 1e-9)])));
        prop_assert!(!budget.admits(composed_mu([spent, left * 1.001])));
    }

    /// Two equal releases at exact calibration cost less than basic composition says.
    #[test]
    fn composition_beats_the_sum(epsilon in 0.1..3.0f64) {
        let mu = 1.0 / Calibration::Analytic.sigma(epsilon, 1e-6);
        let both = composed_mu([mu, mu]);
        let (sum, single) = (PrivacyBudget { epsilon: 2.0 * epsilon, delta: 2e-6 }, PrivacyBudget { epsilon, delta: 1e-6 });
        prop_assert!(sum.admits(both) && !single.admits(both));
    }
}

/// A release at exact calibration fills its own budget, and no epsilon is left.
#[test]
fn one_release_can_fill_the_budget() {
    let budget = PrivacyBudget { epsilon: 1.0, delta: 1e-5 };
    let mu = 1.0 / Calibration::Analytic.sigma(1.0, 1e-5);
    assert!(budget.admits(mu));
    assert_eq!(budget.remaining_mu(mu), 0.0);
    assert_eq!(budget.remaining_epsilon(mu, 1e-5), 0.0);
    assert!((budget.remaining_epsilon(0.0, 1e-5) - 1.0).abs() < 1e-9);
    assert_eq!(budget.gaussian_delta_at_mu(0.0), 0.0);
}

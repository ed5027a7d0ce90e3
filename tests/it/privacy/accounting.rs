//! Accountants of the Gaussian mechanism against values computed elsewhere.

use dpgp::number::Budget;
use dpgp::privacy::accounting::{
    Accountant, AccountingCaveat, AdvancedCompositionAccountant, DoubledSensitivityAccountant, ExactGaussianAccountant,
    LossDistributionAccountant, NeighbourRelation, PrivacyEvent, RenyiAccountant, Sampling, SamplingSchedule,
    calibrate_noise_multiplier,
};
use serde_json::Value;

use crate::support::golden::{assert_relative, calibration, number, numbers};

fn event(row: &Value) -> PrivacyEvent {
    let sampling = Sampling::Poisson { rate: number(row, "q") };
    let steps = row["steps"].as_u64().unwrap() as u32;
    PrivacyEvent { noise_multiplier: number(row, "noise_multiplier"), sampling, steps }
}

#[test]
fn gaussian_epsilon() {
    for row in calibration("gaussian_eps_given_sigma") {
        let event = PrivacyEvent { noise_multiplier: number(&row, "sigma"), sampling: Sampling::FullBatch, steps: 1 };
        let spent =
            ExactGaussianAccountant.epsilon(&event, NeighbourRelation::AddRemove, number(&row, "delta")).unwrap();
        assert_relative(spent.upper, number(&row, "eps"), 1e-10, &row);
    }
}

#[test]
fn renyi_divergence_at_whole_and_fractional_orders() {
    for row in calibration("poisson_subsampled_gaussian") {
        let one_step = PrivacyEvent { steps: 1, ..event(&row) };
        let table = &row["rdp_one_step"];
        for (order, expected) in numbers(&table["orders"]).into_iter().zip(numbers(&table["rdp_mpmath"])) {
            let found = RenyiAccountant.divergence(&one_step, NeighbourRelation::AddRemove, order).unwrap();
            assert_relative(found, expected, 1e-10, format!("{one_step:?}, order {order}"));
        }
    }
}

#[test]
fn renyi_epsilon() {
    for row in calibration("poisson_subsampled_gaussian") {
        let spent = RenyiAccountant.epsilon(&event(&row), NeighbourRelation::AddRemove, number(&row, "delta")).unwrap();
        assert_relative(spent.upper, number(&row, "rdp_eps_exact"), 1e-8, format!("{:?}", event(&row)));
    }
}

/// The tightest published value is itself an upper bound, so a lower bound must not pass it.
#[test]
fn loss_distribution_epsilon() {
    let accountant = LossDistributionAccountant::default();
    for row in calibration("poisson_subsampled_gaussian") {
        let what = format!("{:?}", event(&row));
        let spent = accountant.epsilon(&event(&row), NeighbourRelation::AddRemove, number(&row, "delta")).unwrap();
        let best = row["pld_eps_di1e-5"].as_f64().unwrap_or(number(&row, "pld_eps_di1e-4"));
        assert!(spent.lower <= best && spent.lower <= spent.upper, "{what}: {spent:?}");
        assert!(spent.upper >= number(&row, "pld_eps_optimistic_di1e-4"), "{what}: {spent:?}");
        assert!(spent.upper <= 1.002 * best, "{what}: {spent:?} > {best}");
        assert!(spent.upper - spent.lower <= 1e-3 * spent.upper, "{what}: {spent:?}");
    }
}

/// Digits behind the point.
fn digits(text: &str) -> usize {
    text.split_once('.').unwrap().1.len()
}

/// Noise multipliers `2 sigma` at 1,000 steps, rate 0.02 and delta 0.001: of the paper, of the doubled sensitivity and of
/// added or removed records. To the digits printed.
#[test]
fn noise_of_dp_advi() {
    let schedule = SamplingSchedule { sampling: Sampling::Poisson { rate: 0.02 }, steps: 1000 };
    let sigma = |accountant: &dyn Accountant, relation, epsilon| {
        0.5 * calibrate_noise_multiplier(accountant, schedule, relation, Budget::new(epsilon, 1e-3).unwrap()).unwrap()
    };
    let pld = LossDistributionAccountant { tolerance: 2e-4 };
    for (epsilon, published, doubled, added) in [
        (0.2, "60.4", "6.33", "3.16"),
        (0.5, "25.9", "3.03", "1.51"),
        (1.0, "14.3", "1.80", "0.90"),
        (2.0, "8.48", "1.16", "0.58"),
        (5.0, "4.81", "0.76", "0.38"),
        (10.0, "3.45", "0.60", "0.30"),
    ] {
        let found = sigma(&AdvancedCompositionAccountant, NeighbourRelation::ReplaceOne, epsilon);
        assert_eq!(format!("{found:.*}", digits(published)), published, "{epsilon}");
        let found = sigma(&DoubledSensitivityAccountant(pld), NeighbourRelation::ReplaceOne, epsilon);
        assert_eq!(format!("{found:.*}", digits(doubled)), doubled, "{epsilon}");
        let exact = sigma(&pld, NeighbourRelation::ReplaceOne, epsilon);
        assert!(exact < found, "{epsilon}: {exact} {found}");
        let found = sigma(&pld, NeighbourRelation::AddRemove, epsilon);
        assert_eq!(format!("{found:.*}", digits(added)), added, "{epsilon}");
    }
}

/// The formulas of the paper, straight down.
#[test]
fn advanced_composition() {
    for (noise, steps, q, delta) in [(120.8, 1000, 0.02, 1e-3), (9.0, 10, 0.5, 1e-6), (30.0, 5000, 0.005, 1e-4)] {
        let (sigma, t) = (noise / 2.0, f64::from(steps));
        let delta_iter = (delta - delta / 2.0) / (t * q);
        let epsilon_iter = f64::sqrt(2.0 * f64::ln(1.25 / delta_iter)) / sigma;
        let s = f64::ln(1.0 + q * (epsilon_iter.exp() - 1.0));
        let total = f64::sqrt(2.0 * t * f64::ln(2.0 / delta)) * s + t * s * (s.exp() - 1.0);
        let event = PrivacyEvent { noise_multiplier: noise, sampling: Sampling::Poisson { rate: q }, steps };
        let spent = AdvancedCompositionAccountant.epsilon(&event, NeighbourRelation::ReplaceOne, delta).unwrap();
        assert_relative(spent.upper, total, 1e-10, "epsilon");
        let back = AdvancedCompositionAccountant.delta(&event, NeighbourRelation::ReplaceOne, total).unwrap();
        assert_relative(back.upper, delta, 1e-10, "delta");
    }
}

/// The limit of epsilon that a caveat names, if a step spends more than the proof allows.
fn limit(rate: f64, noise_multiplier: f64) -> Option<f64> {
    let event = PrivacyEvent { noise_multiplier, sampling: Sampling::WithReplacement { rate }, steps: 1000 };
    let spent = AdvancedCompositionAccountant.epsilon(&event, NeighbourRelation::ReplaceOne, 1e-3).unwrap();
    let caveats = spent.caveats.clone();
    assert!(matches!(caveats.last(), Some(AccountingCaveat::UnprovedAmplification(..))), "{caveats:?}");
    match caveats[0] {
        AccountingCaveat::EpsilonPerStep { per_step, limit } => {
            assert!(per_step >= 1.0 && spent.upper >= limit, "{spent:?}");
            Some(limit)
        }
        _ => None,
    }
}

#[test]
fn caveats_name_what_the_paper_leaves_out() {
    assert_eq!(limit(0.02, 2.0 * 60.4), None);
    assert!((limit(0.02, 2.0 * 3.45).unwrap() - 5.327).abs() < 1e-3);
    assert!((limit(0.005, 2.0 * 3.45).unwrap() - 1.128).abs() < 1e-3);
}

//! Laws of every accountant, and between them.

use dpgp::number::Budget;
use dpgp::privacy::accounting::{
    Accountant, AccountingCaveat, AccountingError, AdvancedCompositionAccountant, AssumedPoissonAccountant,
    DoubledSensitivityAccountant, ExactGaussianAccountant, LossDistributionAccountant, NeighbourRelation, PrivacyEvent,
    RenyiAccountant, Sampling, SamplingSchedule, calibrate_noise_multiplier,
};
use proptest::prelude::*;

const PLD: LossDistributionAccountant = LossDistributionAccountant { tolerance: 1e-3 };

fn poisson(noise_multiplier: f64, rate: f64, steps: u32) -> PrivacyEvent {
    PrivacyEvent { noise_multiplier, sampling: Sampling::Poisson { rate }, steps }
}

fn events() -> impl Strategy<Value = PrivacyEvent> {
    (-0.4..2.5f64, -6.0..-0.4f64, 0.0..6.0f64)
        .prop_map(|(noise, rate, steps)| poisson(noise.exp(), rate.exp(), steps.exp().ceil() as u32))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn more_noise_fewer_steps_less_data_and_more_delta_need_less_epsilon(event in events(), exponent in -8.0..-2.0f64) {
        let delta = 10f64.powf(exponent);
        let rate = 0.8 * event.sampling.rate();
        let better = [
            (PrivacyEvent { noise_multiplier: 1.25 * event.noise_multiplier, ..event }, delta),
            (PrivacyEvent { sampling: Sampling::Poisson { rate }, ..event }, delta),
            (PrivacyEvent { steps: event.steps.div_ceil(2), ..event }, delta),
            (event, 4.0 * delta),
        ];
        for accountant in [&PLD as &dyn Accountant, &RenyiAccountant, &AdvancedCompositionAccountant] {
            let worst = accountant.epsilon(&event, NeighbourRelation::AddRemove, delta).unwrap().upper;
            for (event, delta) in better {
                let spent = accountant.epsilon(&event, NeighbourRelation::AddRemove, delta).unwrap();
                prop_assert!(spent.lower <= spent.upper && spent.upper <= 1.001 * worst, "{event:?}: {spent:?} {worst}");
            }
        }
    }

    #[test]
    fn proved_bounds_are_above_the_lower_bound(event in events(), exponent in -8.0..-2.0f64) {
        let delta = 10f64.powf(exponent);
        let spent = PLD.epsilon(&event, NeighbourRelation::AddRemove, delta).unwrap();
        // Bounds on a tiny epsilon, such as 2e-4, are close in absolute terms only, because the grid has a smallest width.
        prop_assert!(spent.upper - spent.lower <= 1e-3 * spent.upper + 1e-5, "{spent:?}");
        prop_assert!(spent.lower <= RenyiAccountant.epsilon(&event, NeighbourRelation::AddRemove, delta).unwrap().upper);
        let classic = AdvancedCompositionAccountant.epsilon(&event, NeighbourRelation::AddRemove, delta).unwrap();
        prop_assert!(!classic.caveats.is_empty() || spent.lower <= classic.upper);
        let replaced = PLD.epsilon(&event, NeighbourRelation::ReplaceOne, delta).unwrap();
        prop_assert!(spent.lower <= replaced.upper, "a record is replaced by an empty one");
        for epsilon in [spent.lower, spent.upper] {
            let back = PLD.delta(&event, NeighbourRelation::AddRemove, epsilon).unwrap();
            prop_assert!(back.lower <= back.upper);
            prop_assert!(epsilon != spent.upper || back.lower <= delta, "{back:?}");
            prop_assert!(epsilon != spent.lower || epsilon == 0.0 || back.upper >= delta, "{back:?}");
        }
    }

    #[test]
    fn full_samples_are_the_exact_gaussian(noise in 0.8..20.0f64, steps in 1..40u32, exponent in -8.0..-2.0f64) {
        let (delta, event) = (10f64.powf(exponent), poisson(noise, 1.0, steps));
        for relation in [NeighbourRelation::AddRemove, NeighbourRelation::ReplaceOne] {
            let exact = ExactGaussianAccountant.epsilon(&event, relation, delta).unwrap();
            let spent = PLD.epsilon(&event, relation, delta).unwrap();
            prop_assert!(spent.lower <= exact.upper && exact.lower <= spent.upper, "{spent:?} {exact:?}");
            prop_assert!(exact.upper <= RenyiAccountant.epsilon(&event, relation, delta).unwrap().upper);
        }
    }

    #[test]
    fn the_noise_for_a_guarantee_gives_it_and_no_more(epsilon in 0.3..4.0f64, exponent in -7.0..-2.0f64) {
        let (schedule, delta) = (SamplingSchedule { sampling: Sampling::Poisson { rate: 0.03 }, steps: 200 }, 10f64.powf(exponent));
        let budget = Budget::new(epsilon, delta).unwrap();
        for (accountant, slack) in [(&PLD as &dyn Accountant, 4e-3), (&RenyiAccountant, 1e-5), (&AdvancedCompositionAccountant, 1e-5)] {
            let noise = calibrate_noise_multiplier(accountant, schedule, NeighbourRelation::AddRemove, budget).unwrap();
            let found = accountant.epsilon(&poisson(noise, 0.03, 200), NeighbourRelation::AddRemove, delta).unwrap().upper;
            prop_assert!((found / epsilon - 1.0).abs() <= slack, "{}: {found} {epsilon}", accountant.name());
            let spent = accountant.delta(&poisson(noise, 0.03, 200), NeighbourRelation::AddRemove, epsilon).unwrap().upper;
            prop_assert!(spent <= delta, "{}: {spent} {delta}", accountant.name());
        }
    }
}

#[test]
fn unknown_events_are_refused_with_a_reason() {
    let event = PrivacyEvent { sampling: Sampling::WithReplacement { rate: 0.1 }, ..poisson(1.0, 0.1, 10) };
    let refusal = |accountant: &dyn Accountant, event: &PrivacyEvent, relation| {
        let (epsilon, delta) = (accountant.epsilon(event, relation, 1e-5), accountant.delta(event, relation, 1.0));
        assert_eq!(epsilon, delta);
        epsilon.unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&PLD, &event, NeighbourRelation::AddRemove),
        "the privacy loss distribution accountant does not cover sampling with replacement for add-remove \
         neighbours: no pair of distributions is known that dominates one step and also composes; it accepts full \
         batches and Poisson sampling"
    );
    let rest = "full batches, and Poisson sampling for add-remove neighbours";
    assert!(refusal(&RenyiAccountant, &poisson(1.0, 0.1, 10), NeighbourRelation::ReplaceOne).ends_with(rest));
    assert!(
        refusal(&ExactGaussianAccountant, &poisson(1.0, 0.1, 10), NeighbourRelation::AddRemove)
            .ends_with("accepts full batches")
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    let good = poisson(1.0, 0.1, 10);
    for accountant in
        [&PLD as &dyn Accountant, &RenyiAccountant, &AdvancedCompositionAccountant, &ExactGaussianAccountant]
    {
        for bad in [poisson(0.0, 0.1, 1), poisson(f64::NAN, 0.1, 1), poisson(1.0, 1.1, 1), poisson(1.0, 0.1, 0)] {
            let error = accountant.epsilon(&bad, NeighbourRelation::AddRemove, 1e-5).unwrap_err();
            assert!(matches!(error, AccountingError::OutOfRange { .. }), "{bad:?}: {error}");
        }
        for delta in [0.0, 1.0, f64::NAN] {
            assert!(accountant.epsilon(&good, NeighbourRelation::AddRemove, delta).is_err(), "{delta}");
        }
        assert!(accountant.delta(&good, NeighbourRelation::AddRemove, -1.0).is_err());
    }
}

#[test]
fn assumptions_are_recorded() {
    let sampling = Sampling::WithReplacement { rate: 0.1 };
    let event = PrivacyEvent { sampling, ..poisson(2.0, 0.1, 10) };
    let assumed = AssumedPoissonAccountant(PLD).epsilon(&event, NeighbourRelation::AddRemove, 1e-5).unwrap();
    let proved = PLD.epsilon(&poisson(2.0, 0.1, 10), NeighbourRelation::AddRemove, 1e-5).unwrap();
    assert_eq!((assumed.upper, assumed.lower), (proved.upper, 0.0));
    assert_eq!(assumed.caveats, [AccountingCaveat::TreatedAsPoisson(sampling)]);
    let doubled =
        DoubledSensitivityAccountant(PLD).epsilon(&poisson(4.0, 0.1, 10), NeighbourRelation::ReplaceOne, 1e-5).unwrap();
    assert_eq!((doubled.upper, doubled.lower), (proved.upper, 0.0));
    assert_eq!(doubled.caveats, [AccountingCaveat::DoubledSensitivity]);
    let full = DoubledSensitivityAccountant(ExactGaussianAccountant)
        .epsilon(&poisson(4.0, 1.0, 1), NeighbourRelation::ReplaceOne, 1e-5)
        .unwrap();
    assert!(full.caveats.is_empty() && full.lower > 0.0);
}

#[test]
fn events_are_written_in_specs() {
    let text = "noise-multiplier = 2.0\nsampling.poisson.rate = 0.02\nsteps = 1000\n";
    let event: PrivacyEvent = toml::from_str(text).unwrap();
    assert_eq!(event, poisson(2.0, 0.02, 1000));
    assert_eq!(toml::from_str::<PrivacyEvent>(&toml::to_string(&event).unwrap()).unwrap(), event);
    assert!(toml::from_str::<PrivacyEvent>(&format!("{text}clip = 1.0\n")).is_err());
    assert!(toml::from_str::<PrivacyEvent>(&text.replace("rate", "probability")).is_err());
}

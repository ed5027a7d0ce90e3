//! Errors of the papers against the figures of the protocols, which were computed independently.

use dpgp::spec::Erratum;
use dpgp::task::errata::{Numbers, about, evaluate};

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}");
}

/// Everything has words and finite numbers; only a statement that is loose holds.
#[test]
fn every_erratum_is_computed_and_told() {
    for &erratum in Erratum::ALL {
        let Numbers { claimed, found, holds, corrected } = evaluate(erratum).unwrap();
        assert!([claimed, found, corrected].iter().all(|x| x.is_finite()), "{erratum:?}");
        assert_eq!(holds, erratum == Erratum::Looseness, "{erratum:?}: {claimed} {found}");
        let words = about(erratum);
        assert!(["smith2016", "smith2021", "honkela2021", "jalko2016"].contains(&words.paper));
        let texts = [words.place, words.statement, words.example, words.correction, words.effect];
        assert!(texts.iter().all(|text| !text.is_empty() && !text.contains("  ")), "{erratum:?}");
    }
}

#[test]
fn figures_of_the_protocols() {
    let of = |erratum| evaluate(erratum).unwrap();
    let selection = of(Erratum::SelectionSensitivity);
    assert_near(selection.claimed, 180.77, 0.005, "Equation 13");
    assert_near(selection.found, 270.61, 0.005, "its counter-example");
    assert_near(selection.corrected, 491.23, 0.005, "the valid bound");
    let toy = of(Erratum::ToyClip);
    assert_near(toy.claimed, 0.998_693, 1e-6, "Section 5.1");
    assert_near(toy.found, 0.645_498, 1e-6, "with its own clip");
    let sums = of(Erratum::SumsSensitivity);
    assert_near(sums.claimed, 7.778, 5e-4, "Equation 6");
    assert_near(sums.found, 6.0, 1e-12, "the exact value");
    let separated = of(Erratum::SeparatedBound);
    assert_near(separated.claimed, 38.4, 0.05, "Equation 8");
    assert_near(1000.0 * separated.found, 3142.0, 0.5, "the product of the sides");
    let line = of(Erratum::FeatureBound);
    assert_near(line.claimed - line.found, 1.0, 1e-3, "the superfluous terms of Equation 7");
    assert_near(of(Erratum::LargeEpsilon).found, 0.367, 5e-4, "delta at epsilon 20");
    assert_near(of(Erratum::NoiseConstant).corrected, 1.877_875_560_907_386, 1e-9, "exact calibration");
    assert_near(of(Erratum::NoiseConstant).found, (2.0 * 200f64.ln()).sqrt(), 1e-12, "classic calibration");
    assert_near(of(Erratum::VarianceForDeviation).corrected.log10(), -3.865, 0.01, "delta of 3.11");
    assert_near(of(Erratum::DensityChange).found, 24.0, 1e-9, "a trip in a bin");
    assert_near(of(Erratum::EpsilonPerStep).found, 5.2, 0.05, "the limit of Figure 1(a)");
    let looseness = of(Erratum::Looseness);
    assert!((13.0..56.0).contains(&(looseness.claimed / looseness.found)), "{looseness:?}");
    assert_near(of(Erratum::SquareCloak).found, 1.0, 1e-9, "a square C");
    assert!(of(Erratum::HeteroscedasticNoise).found > 0.999_999);
    assert!(of(Erratum::HeteroscedasticNoise).corrected <= 1e-5);
}

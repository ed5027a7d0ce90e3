//! Statements of the papers against the figures of the protocols, which were computed independently.

use std::path::Path;

use dpgp::data::DatasetManifest;
use dpgp::spec::{ErratumKind, ErratumWords, SpecError};
use dpgp::task::{Erratum, ErratumNumbers, Experiment};

const SPEC: &str = include_str!("../../../experiments/beyond/errata.toml");

fn parse(text: &str) -> Result<Experiment, SpecError> {
    Experiment::parse("errata", Path::new("errata.toml"), text.to_owned(), &DatasetManifest::load_shipped().unwrap())
}

/// The line and column of an error in a changed spec, its path, and what it says.
fn fault(from: &str, to: &str) -> (usize, usize, String, String) {
    assert!(SPEC.contains(from), "{from}");
    let error = parse(&SPEC.replacen(from, to, 1)).unwrap_err();
    (error.line, error.column, error.path.clone(), error.problem.to_string())
}

/// The line, from 1, of the first occurrence of a text in the shipped spec.
fn line_of(text: &str) -> usize {
    SPEC[..SPEC.find(text).unwrap()].lines().count() + 1
}

fn numbers(name: &str) -> ErratumNumbers {
    Erratum::from_name(name).unwrap().numbers().unwrap()
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}");
}

/// Everything has words and finite numbers.
#[test]
fn every_erratum_is_computed_and_told() {
    let experiment = parse(SPEC).unwrap();
    let told = experiment.errata.iter().map(|words| words.name.as_str());
    assert!(told.eq(Erratum::names()), "the words are in the order of the registry");
    for words in &experiment.errata {
        let ErratumWords { name, paper, kind: _, place, quote, statement, example, correction, effect } = words;
        let ErratumNumbers { claimed, found, corrected, .. } = numbers(name);
        assert!([claimed, found, corrected, claimed / found].iter().all(|x| x.is_finite()), "{name}");
        let papers = ["smith2016", "smith2021", "honkela2021", "jalko2016", "lawrence2017"];
        assert!(papers.contains(&paper.as_str()));
        let texts = [place, statement, example, correction, effect];
        assert!(texts.into_iter().chain(quote).all(|text| !text.is_empty() && !text.contains("  ")), "{name}");
    }
}

/// An error does not hold, and a loose bound does, by a factor above one: what is said of a paper is what the numbers say.
#[test]
fn the_kind_and_the_numbers_agree() {
    for words in &parse(SPEC).unwrap().errata {
        let numbers = numbers(&words.name);
        match words.kind {
            ErratumKind::Error => assert!(!numbers.holds, "{}: {numbers:?}", words.name),
            ErratumKind::Loose => {
                assert!(numbers.holds && numbers.claimed_to_found_ratio() > 1.0, "{}: {numbers:?}", words.name)
            }
            ErratumKind::Gap | ErratumKind::Remark => {}
        }
    }
}

/// Only a remark may be without the words of the paper.
#[test]
fn what_is_said_of_a_paper_quotes_it() {
    let quote = "quote = \"Sort \u{3b1} to be ascending\"\n";
    for broken in ["", "quote = \" \"\n"] {
        let (.., path, said) = fault(quote, broken);
        assert_eq!(path, "erratum.10.quote");
        let wanted = "the erratum \"ascending-sort\" must quote the paper";
        assert!(said.starts_with(wanted), "{said}");
    }
    let (line, _, path, said) = fault("kind = \"gap\"", "kind = \"gaps\"");
    assert_eq!((line, path.as_str()), (line_of("kind = \"gap\""), "erratum.2.kind"));
    assert!(said.contains("expected one of `error`, `loose`, `gap`, `remark`"), "{said}");
}

#[test]
fn an_erratum_needs_a_function() {
    let (line, column, path, said) = fault("    \"toy-clip\",", "    \"toy-clp\",");
    assert_eq!((line, column), (line_of("    \"toy-clip\","), 5));
    assert_eq!(path, "grid.task.errata.erratum.12");
    assert!(said.contains("there is no erratum \"toy-clp\" (did you mean \"toy-clip\"?)"), "{said}");
    assert!(said.ends_with("clipped-prior, squared-bound, worse-than-none"), "{said}");
}

#[test]
fn an_erratum_needs_words_of_its_own() {
    let entry = SPEC.split("[[erratum]]\n").find(|entry| entry.starts_with("name = \"toy-clip\"")).unwrap();
    let (line, column, path, said) = fault(&format!("[[erratum]]\n{entry}"), "");
    assert_eq!((line, column), (line_of("    \"toy-clip\","), 5));
    assert_eq!(path, "grid.task.errata.erratum.12");
    assert_eq!(said, "no [[erratum]] of this spec describes \"toy-clip\"");
    let (line, column, path, said) = fault("name = \"toy-clip\"", "name = \"toy-clp\"");
    assert_eq!((line, column, path.as_str()), (line_of("name = \"toy-clip\""), 1, "erratum.12.name"));
    assert_eq!(said, "no cell computes the erratum \"toy-clp\" (did you mean \"toy-clip\"?)");
    let (line, .., said) = fault("name = \"toy-clip\"", "name = \"row-norm\"");
    assert_eq!(line, line_of("name = \"toy-clip\""));
    assert_eq!(said, "the value row-norm is listed twice");
}

#[test]
fn figures_of_the_protocols() {
    let selection = numbers("selection-sensitivity");
    assert_near(selection.claimed, 180.77, 0.005, "Equation 13");
    assert_near(selection.found, 270.61, 0.005, "its counter-example");
    assert_near(selection.corrected, 491.23, 0.005, "the valid bound");
    let squared = numbers("delta-squared");
    assert_near(squared.claimed, squared.found * squared.found, 1e-12, "what multiplies the noise of Table 2");
    assert!((1.0..1.4).contains(&squared.found), "Delta after five steps: {}", squared.found);
    let dropped = numbers("largest-fold-dropped");
    assert_near(dropped.found, 270.61 / 400.0, 2e-5, "the same counter-example at a change of 0.1");
    assert!(!dropped.holds && dropped.claimed < dropped.found, "{dropped:?}");
    assert_near(numbers("weighted-sum").found, 18.61, 0.005, "from the printed rows");
    assert_near(numbers("mean-of-all").found, 85.98, 0.005, "from the printed rows");
    assert_near(numbers("lowest-error").found, 14.52, 1e-9, "from the printed rows");
    let binnings = numbers("worse-than-none");
    assert_eq!((binnings.found, binnings.holds), (550.0, false));
    let toy = numbers("toy-clip");
    assert_near(toy.claimed, 0.998_693, 1e-6, "Section 5.1");
    assert_near(toy.found, 0.645_498, 1e-6, "with its own clip");
    let sorted = numbers("ascending-sort");
    let all = [sorted.claimed, sorted.found, sorted.corrected];
    all.iter().zip([61.0, 116.0, 140.0]).for_each(|(found, wanted)| assert_near(*found, wanted, 1e-9, "the toy"));
    let twice = numbers("sum-twice");
    assert_near(twice.found, 186.406, 5e-4, "line 8 of Algorithm 1");
    assert_near(twice.claimed - twice.found, 1_589.495_209_96, 1e-6, "line 9 of Algorithm 1");
    assert_near(numbers("dual-direction").found, 2f64.ln() - 0.5, 1e-12, "L at half the solution");
    assert_near(numbers("dirichlet-variance").claimed, 101f64.ln(), 1e-12, "Equation 21");
    assert_near(numbers("squared-bound").found, 0.021_294_88, 1e-8, "half of the noise");
    assert_near(numbers("regularisation").found, 0.016_464_94, 1e-8, "by quadrature over N");
    assert_near(numbers("zcdp-conversion").claimed_to_found_ratio(), 1.258_173, 1e-6, "by the error function alone");
    let sums = numbers("sums-sensitivity");
    assert_near(sums.claimed, 7.778, 5e-4, "Equation 6");
    assert_near(sums.found, 6.0, 1e-12, "the exact value");
    let separated = numbers("separated-bound");
    assert_near(separated.claimed, 38.4, 0.05, "Equation 8");
    assert_near(1000.0 * separated.found, 3142.0, 0.5, "the product of the sides");
    let line = numbers("feature-bound");
    assert_near(line.claimed - line.found, 1.0, 1e-3, "the superfluous terms of Equation 7");
    assert_near(numbers("large-epsilon").found, 0.48, 0.005, "delta at epsilon 20");
    let constant = numbers("noise-constant");
    assert_near(constant.found, 1.877_875_560_907_386, 1e-9, "exact calibration");
    assert_near(constant.claimed, (2.0 * 125f64.ln()).sqrt(), 1e-12, "the calibration of the text");
    assert_near(numbers("variance-for-deviation").corrected.log10(), -3.865, 0.01, "delta of 3.11");
    assert_near(numbers("density-change").found, 24.0, 1e-9, "a trip in a bin");
    assert_near(numbers("epsilon-per-step").found, 5.2, 0.05, "the limit of Figure 1(a)");
    let looseness = numbers("looseness");
    assert!((13.0..56.0).contains(&(looseness.claimed / looseness.found)), "{looseness:?}");
    assert_near(numbers("square-cloak").found, 1.0, 1e-9, "a square C");
    assert!(numbers("heteroscedastic-noise").found > 0.999_999);
    assert!(numbers("heteroscedastic-noise").corrected <= 1e-5);
}

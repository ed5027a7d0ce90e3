//! The attack on mutants: mechanisms whose truth is known, most of them broken. An attack must find the
//! broken ones and pass the correct ones.
//!
//! They are the mechanisms that StatDP (Ding et al. 2018) and DP-Sniper (Bichsel et al. 2021) are tested on,
//! and mistakes from real programs. The doc comment of each states the truth and why. Unless stated
//! otherwise, epsilon is 1. Inputs are rows, or answers of queries that each change by at most 1 between
//! neighbours.
//!
//! The tests give the attack a few thousand outputs. `cargo test --release -p dpgp-audit --test mutants --
//! --ignored` takes minutes and gives it two million, with which it must find every mistake.

mod choice;
mod composition;
mod control;
mod dice;
mod domains;
mod floating;
mod gaussian;
mod gaussian_shares;
mod geometric;
mod laplace;
mod mutant;
mod noisy_max;
mod prefix_sums;
mod response;
mod rows;
mod shapes;
mod sparse_vector;
mod sparse_vector_broken;
mod trial;
mod vectors;

use std::collections::BTreeSet;

use mutant::Mutant;
use trial::{MutantFinding, MutantOptions, try_mutant};

/// All mutants, by family.
fn mutants() -> Vec<Mutant> {
    [
        laplace::all(),
        shapes::all(),
        vectors::all(),
        prefix_sums::all(),
        geometric::all(),
        gaussian::all(),
        gaussian_shares::all(),
        composition::all(),
        response::all(),
        choice::all(),
        noisy_max::all(),
        sparse_vector::all(),
        sparse_vector_broken::all(),
        domains::all(),
        rows::all(),
        control::all(),
        floating::all(),
    ]
    .concat()
}

fn tried(options: MutantOptions, name: &str) -> MutantFinding {
    let mutant = mutants().into_iter().find(|mutant| mutant.name == name);
    try_mutant(&mutant.unwrap_or_else(|| panic!("{name} is gone")), options)
}

/// A few outputs, with bounds that all hold together 99 times in 100.
fn few() -> MutantOptions {
    MutantOptions { learned: 1 << 13, judged: 1 << 14, ..MutantOptions::of_all(mutants().len(), 3, 0.99) }
}

#[test]
fn names_are_unique_and_there_are_enough() {
    let mutants = mutants();
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.name).collect();
    let broken = mutants.iter().filter(|mutant| mutant.is_broken()).count();
    assert_eq!(names.len(), mutants.len());
    assert!(broken >= 40 && mutants.len() - broken >= 10, "{broken} of {}", mutants.len());
}

/// Each input gives outputs of one width, and the inputs are told apart only by numbers that differ.
#[test]
fn inputs_differ() {
    for mutant in mutants() {
        let [one, other] = mutant.inputs.map(|input| input.iter().map(|x| x.to_bits()).collect::<Vec<u64>>());
        assert_ne!(one, other, "{}", mutant.name);
    }
}

/// Mistakes that take more outputs to find: they show in rare outputs, or little more than is claimed.
const TAKE_MORE: [&str; 7] = [
    "gaussian-textbook-beyond-1",
    "permute-and-flip-without-half",
    "noisy-max-half-noise",
    "svt-3",
    "svt-3-and-4",
    "svt-exact-threshold",
    "svt-goes-on",
];

#[test]
fn mistakes_are_found_with_few_outputs() {
    for mutant in mutants().iter().filter(|mutant| mutant.is_broken() && !TAKE_MORE.contains(&mutant.name)) {
        let finding = try_mutant(mutant, few());
        assert!(finding.violated && finding.right, "{} ({}): {finding:?}", mutant.name, mutant.what);
    }
}

#[test]
fn correct_mechanisms_raise_no_alarm() {
    for mutant in mutants().iter().filter(|mutant| !mutant.is_broken()) {
        let finding = try_mutant(mutant, few());
        assert!(!finding.violated && finding.right, "{} ({}): {finding:?}", mutant.name, mutant.what);
    }
}

/// A claim that is a little below the truth is refuted: what is found is near it.
#[test]
fn a_claim_a_little_below_the_truth_is_refuted() {
    let mut laplace = mutants().swap_remove(0);
    laplace.claim.epsilon = 0.9;
    let finding = try_mutant(&laplace, MutantOptions { judged: 1 << 17, ..few() });
    assert!(finding.violated && finding.bounds.epsilon < 1.0, "{finding:?}");
}

#[test]
fn findings_follow_the_seed() {
    let [one, again] = [(), ()].map(|()| tried(few(), "laplace").bounds);
    let other = tried(MutantOptions { seed: 4, ..few() }, "laplace").bounds;
    assert_eq!(one, again);
    assert_ne!(one.epsilon, other.epsilon);
}

/// The confidence of all bounds together: one run in a million may raise a false alarm.
const CONFIDENCE: f64 = 1.0 - 1e-6;

#[test]
#[ignore = "takes minutes"]
fn every_mistake_is_found_with_many_outputs() {
    let (mutants, threads) = (mutants(), std::thread::available_parallelism().unwrap().get());
    let options = MutantOptions::of_all(mutants.len(), 1, CONFIDENCE);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let mutants = &mutants;
        let tries = (0..threads).map(|first| {
            scope.spawn(move || {
                let own = mutants.iter().skip(first).step_by(threads);
                let tried = own.map(|mutant| (mutant.name, try_mutant(mutant, options)));
                tried.filter(|(_, finding)| !finding.right).map(|wrong| format!("{wrong:?}")).collect::<Vec<_>>()
            })
        });
        let tries: Vec<_> = tries.collect();
        tries.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

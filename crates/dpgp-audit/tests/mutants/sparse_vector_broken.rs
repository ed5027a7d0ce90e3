//! The variants of the sparse vector that are broken: four that Lyu, Su and Li 2017 found in papers, and more.

use super::mutant::{Mutant, Truth};
use super::sparse_vector::{LYU, Shows, Variant, lyu};

pub(super) fn all() -> Vec<Mutant> {
    vec![roth(), lee_clifton(), stoddard(), chen(), three_and_four(), exact_threshold(), never_stops()]
}

/// From equal answers half rise and half fall.
const PARTED: [&[f64]; 2] = [&[1.0; 10], &[2.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]];

/// Algorithm 3: the noisy answer that was compared is released. Source of the variant: lecture notes of 2011.
///
/// Truth: no epsilon for all numbers of answers (Lyu, Su and Li 2017). For ten it is at most 5: it is a function of ten
/// noisy answers, `c = 1`, with half of epsilon each.
fn roth() -> Mutant {
    Mutant {
        name: "svt-3",
        what: "sparse vector that shows the noise it compared",
        truth: Truth::Epsilon(5.0),
        inputs: PARTED,
        release: |answers, dice, out| {
            Variant { answers: 2.0, stops: 1, shows: Shows::Compared, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

/// Algorithm 4: the noise of answers does not grow with c. Source of the variant: Lee and Clifton 2014.
///
/// Truth: at most `(1 + 6 c) / 4 epsilon` (Lyu, Su and Li 2017), here with `c = 2`.
fn lee_clifton() -> Mutant {
    Mutant {
        name: "svt-4",
        what: "sparse vector whose noise forgets the number of ends",
        truth: Truth::Epsilon(3.25),
        inputs: PARTED,
        release: |answers, dice, out| {
            Variant { threshold: 4.0, answers: 4.0 / 3.0, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

/// Algorithm 5: no noise on answers, and no end. Source of the variant: Stoddard, Chen and Machanavajjhala 2014.
///
/// Truth: answers 2 above and 0 below are impossible if all are 1.
fn stoddard() -> Mutant {
    Mutant {
        name: "svt-5",
        what: "sparse vector without noise on answers",
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: PARTED,
        release: |answers, dice, out| {
            Variant { answers: 0.0, stops: usize::MAX, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

/// Algorithm 6: noise of `1 / (epsilon / 2)` on answers, and no end. Source of the variant: Chen et al. 2015.
///
/// Truth: no epsilon for all numbers of answers (Lyu, Su and Li 2017). For ten it is at most 5: given the noise of the
/// threshold each answer costs half of epsilon at most.
fn chen() -> Mutant {
    Mutant {
        name: "svt-6",
        what: "sparse vector that never ends",
        truth: Truth::Epsilon(5.0),
        release: |answers, dice, out| {
            Variant { answers: 2.0, stops: usize::MAX, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

/// Algorithms 3 and 4 side by side, with half of epsilon each: SVT34Parallel of DP-Sniper.
///
/// Truth: at most half of the sum of theirs.
fn three_and_four() -> Mutant {
    Mutant {
        name: "svt-3-and-4",
        what: "the third and the fourth, with half of epsilon each",
        truth: Truth::Epsilon((5.0 + 3.25) / 2.0),
        inputs: PARTED,
        release: |answers, dice, out| {
            let third = Variant { threshold: 4.0, answers: 4.0, stops: 1, shows: Shows::Compared, ..LYU };
            third.run(answers, dice, out);
            Variant { threshold: 8.0, answers: 8.0 / 3.0, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

/// No noise on the threshold.
///
/// Truth: each of eight answers costs a quarter of epsilon, and all are below it: `2 epsilon`.
fn exact_threshold() -> Mutant {
    Mutant {
        name: "svt-exact-threshold",
        what: "sparse vector without noise on the threshold",
        truth: Truth::Epsilon(2.0),
        inputs: [&[1.0; 8], &[2.0; 8]],
        release: |answers, dice, out| {
            Variant { threshold: 0.0, answers: 4.0, stops: 1, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

/// The noise for one answer above the threshold, and no end.
///
/// Truth: for ten answers at most 2.5: given the noise of the threshold each costs a quarter of epsilon at most.
fn never_stops() -> Mutant {
    Mutant {
        name: "svt-goes-on",
        what: "sparse vector that goes on after its budget",
        truth: Truth::Epsilon(2.5),
        release: |answers, dice, out| {
            Variant { answers: 4.0, stops: usize::MAX, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

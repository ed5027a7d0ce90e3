//! Budgets of several answers.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![spent_twice(), halves_for_three(), by_root(), overlapping(), sampled(), not_sampled()]
}

/// A count is answered twice, each time with all of epsilon.
///
/// Truth: `2 epsilon`; outputs above both counts have the whole ratio.
fn spent_twice() -> Mutant {
    Mutant {
        name: "budget-spent-twice",
        what: "two answers, each with all of epsilon",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(2.0),
        inputs: [&[0.0; 2], &[1.0; 2]],
        release: |answers, dice, out| dice.add_laplace(answers, 1.0, out),
    }
}

/// Three answers with half of epsilon each.
///
/// Truth: `3/2 epsilon`.
fn halves_for_three() -> Mutant {
    Mutant {
        name: "budget-halved-for-three",
        what: "three answers with half of epsilon each",
        truth: Truth::Epsilon(1.5),
        inputs: [&[0.0; 3], &[1.0; 3]],
        release: |answers, dice, out| dice.add_laplace(answers, 2.0, out),
        ..spent_twice()
    }
}

/// Four answers with half of epsilon each, since pure budgets are added as if they were standard deviations.
///
/// Truth: `2 epsilon`, their sum.
fn by_root() -> Mutant {
    Mutant {
        name: "budget-by-root",
        what: "budgets added as the root of their squares",
        truth: Truth::Epsilon(2.0),
        inputs: [&[0.0; 4], &[1.0; 4]],
        release: |answers, dice, out| dice.add_laplace(answers, 2.0, out),
        ..spent_twice()
    }
}

/// Counts of two groups that are taken for disjoint, and share the record that changes.
///
/// Truth: `2 epsilon`.
fn overlapping() -> Mutant {
    Mutant {
        name: "budget-of-overlapping-groups",
        what: "groups taken for disjoint share a record",
        inputs: [&[5.0, 7.0], &[6.0, 8.0]],
        ..spent_twice()
    }
}

/// The epsilon of Laplace noise of scale 1 on a sample that each record comes into with a probability of 1/10:
/// `ln(1 + (e - 1) / 10)`. Source: Balle, Barthe and Gaboardi 2018.
fn sampled_epsilon() -> f64 {
    (0.1 * 1f64.exp_m1()).ln_1p()
}

/// A count over a random tenth of the records.
///
/// Truth: the claim; with the record the density is at most `9/10 + e / 10` times that without it.
fn sampled() -> Mutant {
    Mutant {
        name: "laplace-sampled",
        what: "a count over a random tenth of the records",
        claim: Guarantee::pure(sampled_epsilon()),
        truth: Truth::Epsilon(sampled_epsilon()),
        inputs: [&[0.0], &[1.0]],
        release: |x, dice, out| {
            let counted = if dice.happens(0.1) { x[0] } else { 0.0 };
            out.push(counted + dice.laplace(1.0));
        },
    }
}

/// The same claim for a count over the same tenth of the records each time.
///
/// Truth: the epsilon of the noise for a record in that tenth.
fn not_sampled() -> Mutant {
    Mutant {
        name: "laplace-not-sampled",
        what: "amplified by a sample that is not random",
        truth: Truth::Epsilon(1.0),
        release: |x, dice, out| dice.add_laplace(x, 1.0, out),
        ..sampled()
    }
}

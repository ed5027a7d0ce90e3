//! Sums over rows with bounds.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![clipped(), unclipped(), not_a_number(), low_twice(), persons(), wrapped()]
}

/// A sum of rows, each clipped to [0, 1]; a row is replaced.
///
/// Truth: `epsilon`.
fn clipped() -> Mutant {
    Mutant {
        name: "clipped-sum",
        what: "a sum of rows clipped to [0, 1]",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[0.0, 1.0], &[9.0, 1.0]],
        release: |rows, dice, out| {
            out.push(rows.iter().map(|row| row.clamp(0.0, 1.0)).sum::<f64>() + dice.laplace(1.0));
        },
    }
}

/// Rows are clipped for the sensitivity; the sum is that of the rows as they were.
///
/// Truth: no epsilon; a row may be anything. This one moves the sum by 9.
fn unclipped() -> Mutant {
    Mutant {
        name: "unclipped-sum",
        what: "rows are clipped, and the unclipped are summed",
        truth: Truth::Epsilon(f64::INFINITY),
        release: |rows, dice, out| {
            let clipped: Vec<f64> = rows.iter().map(|row| row.clamp(0.0, 1.0)).collect();
            let sensitivity = clipped.iter().copied().fold(1.0, f64::max);
            out.push(rows.iter().sum::<f64>() + dice.laplace(sensitivity));
        },
        ..clipped()
    }
}

/// A clip by comparisons, which lets through what is no number.
///
/// Truth: such a row makes the sum no number.
fn not_a_number() -> Mutant {
    Mutant {
        name: "nan-through-the-clip",
        what: "a clip by comparisons lets NaN through",
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[0.0, 1.0], &[f64::NAN, 1.0]],
        release: |rows, dice, out| {
            let clip = rows.iter().map(|row| {
                // The standard clamp keeps what is no number, as one by comparisons does.
                row.clamp(0.0, 1.0)
            });
            out.push(clip.sum::<f64>() + dice.laplace(1.0));
        },
        ..clipped()
    }
}

/// Rows between 1 and 4, whose sum changes by at most 4 when one is added; the lower bound is read in place of the upper one.
///
/// Truth: `4 epsilon`.
fn low_twice() -> Mutant {
    Mutant {
        name: "lower-bound-twice",
        what: "a sensitivity from the lower bound, taken twice",
        truth: Truth::Epsilon(4.0),
        inputs: [&[2.0], &[2.0, 4.0]],
        release: |rows, dice, out| {
            let (low, high) = (1.0f64, 4.0);
            let sum: f64 = rows.iter().map(|row| row.clamp(low, high)).sum();
            out.push(sum + dice.laplace(low.abs().max(low)));
        },
        ..clipped()
    }
}

/// Rows are protected, and a person has three.
///
/// Truth: `3 epsilon`.
fn persons() -> Mutant {
    Mutant {
        name: "rows-not-persons",
        what: "noise for a row; a person has three",
        truth: Truth::Epsilon(3.0),
        inputs: [&[0.0, 0.0, 0.0, 1.0], &[1.0, 1.0, 1.0, 1.0]],
        ..clipped()
    }
}

/// Whole numbers are summed in eight bits.
///
/// Truth: no epsilon for all sizes of integers; 255 and one more are 0, a change of 255.
fn wrapped() -> Mutant {
    Mutant {
        name: "wrapped-sum",
        what: "a sum in eight bits, which overflows",
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[200.0, 55.0, 0.0], &[200.0, 55.0, 1.0]],
        release: |rows, dice, out| {
            let sum = rows.iter().fold(0u8, |sum, row| sum.wrapping_add(*row as u8));
            out.push(f64::from(sum) + dice.laplace(1.0));
        },
        ..clipped()
    }
}

//! Which of several answers lie above a threshold of 1: those of the algorithms that StatDP and DP-Sniper are tested on that
//! are private.

use super::dice::NoiseSampler;
use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![lyu(), dwork_roth(), numerical()]
}

/// How a variant works. Scales are those of Laplace noise.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    pub threshold: f64,
    pub answers: f64,
    /// How many answers above the threshold end it.
    pub stops: usize,
    /// Whether the noise of the threshold is drawn again after an answer above it.
    pub renews: bool,
    pub shows: Shows,
}

/// What stands for an answer above the threshold.
#[derive(Clone, Copy)]
pub(super) enum Shows {
    Mark,
    /// The noisy answer that was compared.
    Compared,
    /// The answer with noise of this scale of its own.
    Fresh(f64),
}

/// What stands for an answer above the threshold, below it, and after the end.
const ABOVE: f64 = -500.0;
const BELOW: f64 = -1000.0;
const ENDED: f64 = -2000.0;

/// Algorithm 1 of Lyu, Su and Li 2017 for two answers above.
pub(super) const LYU: Variant = Variant { threshold: 2.0, answers: 8.0, stops: 2, renews: false, shows: Shows::Mark };

impl Variant {
    pub fn run(self, answers: &[f64], dice: &mut NoiseSampler, out: &mut Vec<f64>) {
        let (mut threshold, mut left) = (1.0 + dice.laplace(self.threshold), self.stops);
        for answer in answers {
            if left == 0 {
                out.push(ENDED);
                continue;
            }
            let noisy = answer + dice.laplace(self.answers);
            if noisy < threshold {
                out.push(BELOW);
                continue;
            }
            left -= 1;
            out.push(self.shown(*answer, noisy, dice));
            if self.renews {
                threshold = 1.0 + dice.laplace(self.threshold);
            }
        }
    }

    fn shown(self, answer: f64, noisy: f64, dice: &mut NoiseSampler) -> f64 {
        match self.shows {
            Shows::Mark => ABOVE,
            Shows::Compared => noisy,
            Shows::Fresh(scale) => answer + dice.laplace(scale),
        }
    }
}

/// Half of the answers fall and half rise.
const CROSSED: [&[f64]; 2] =
    [&[1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0], &[2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0]];

/// Algorithm 1: noise of `1 / (epsilon / 2)` on the threshold, of `2 c / (epsilon / 2)` on answers, an end after c of them.
///
/// Truth: at most `epsilon`. Source: Lyu, Su and Li 2017.
pub(super) fn lyu() -> Mutant {
    Mutant {
        name: "svt-1",
        what: "sparse vector of Lyu et al. 2017",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: CROSSED,
        release: |answers, dice, out| LYU.run(answers, dice, out),
    }
}

/// Algorithm 2: the threshold gets noise of `c / (epsilon / 2)`, new after each answer above it.
///
/// Truth: at most `epsilon`. Source: Dwork and Roth 2014, Algorithm 2.
fn dwork_roth() -> Mutant {
    Mutant {
        name: "svt-2",
        what: "sparse vector of Dwork and Roth 2014",
        release: |answers, dice, out| {
            Variant { threshold: 4.0, renews: true, ..LYU }.run(answers, dice, out);
        },
        ..lyu()
    }
}

/// Answers above the threshold are released with new noise, a third of epsilon each for the three noises.
///
/// Truth: at most `epsilon`. Source: Wang et al. 2019, "Proving differential privacy with shadow execution"; NumericalSVT.
fn numerical() -> Mutant {
    Mutant {
        name: "svt-numerical",
        what: "sparse vector with new noise on what it shows",
        inputs: [&[2.0; 10], &[1.0; 10]],
        release: |answers, dice, out| {
            let variant = Variant { threshold: 3.0, answers: 12.0, shows: Shows::Fresh(6.0), ..LYU };
            variant.run(answers, dice, out);
        },
        ..lyu()
    }
}

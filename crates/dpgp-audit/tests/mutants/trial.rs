//! A mutant under attack.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::dice::NoiseSampler;
use super::mutant::{Mutant, Truth};
use dpgp_audit::{DistinguishingSets, MechanismOutputs, PrivacyLowerBounds};

/// How mutants are attacked.
#[derive(Debug, Clone, Copy)]
pub struct MutantOptions {
    /// The seed of all draws.
    pub seed: u32,
    /// Outputs for each input that sets are chosen on.
    pub learned: usize,
    /// Outputs for each input that judge.
    pub judged: usize,
    /// The probability that some bound on a mutant is wrong.
    pub error: f64,
}

impl MutantOptions {
    /// Enough outputs to find every mutant; all bounds on so many mutants hold together with this confidence.
    pub fn of_all(mutants: usize, seed: u32, confidence: f64) -> Self {
        let error = (1.0 - confidence) / mutants.max(1) as f64;
        Self { seed, learned: 1 << 18, judged: 1 << 21, error }
    }
}

/// What an attack found of a mutant.
#[derive(Debug, Clone)]
pub struct MutantFinding {
    /// What was proved.
    pub bounds: PrivacyLowerBounds,
    /// Whether its claim is refuted.
    pub violated: bool,
    /// Whether that is so, and no bound exceeds the truth.
    pub right: bool,
}

/// Attacks a mutant. What is found depends on the mutant and the options alone.
pub fn try_mutant(mutant: &Mutant, options: MutantOptions) -> MutantFinding {
    let mut sources = [0, 1].map(|input| Source::new(mutant, input, options.seed));
    let [one, other] = sources.each_mut().map(|source| source.outputs(options.learned));
    let mut contests = DistinguishingSets::from_outputs([&one, &other], mutant.claim);
    let mut left = options.judged;
    while left > 0 {
        let some = left.min(PIECE);
        let [one, other] = sources.each_mut().map(|source| source.outputs(some));
        contests.observe([&one, &other]);
        left -= some;
    }
    finding(mutant, contests.lower_bounds(options.error))
}

/// Outputs that are in memory at a time, for each input.
const PIECE: usize = 1 << 15;

fn finding(mutant: &Mutant, bounds: PrivacyLowerBounds) -> MutantFinding {
    let violated = bounds.refute(mutant.claim);
    let possible = match mutant.truth {
        Truth::Epsilon(epsilon) => bounds.epsilon <= epsilon,
        Truth::Delta(delta) => bounds.delta <= delta,
    };
    MutantFinding { bounds, violated, right: possible && violated == mutant.is_broken() }
}

/// A mutant on one of its inputs, with a random stream of its own.
struct Source<'a> {
    mutant: &'a Mutant,
    input: &'static [f64],
    dice: NoiseSampler,
}

impl<'a> Source<'a> {
    fn new(mutant: &'a Mutant, input: usize, seed: u32) -> Self {
        // FNV-1a of the name, so that no mutant shares its stream.
        let name = mutant
            .name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3_u64));
        let stream = Pcg64::seed_from_u64(name ^ (u64::from(seed) << 32) ^ input as u64);
        Self { mutant, input: mutant.inputs[input], dice: NoiseSampler::new(stream) }
    }

    fn outputs(&mut self, rows: usize) -> MechanismOutputs {
        let mut numbers = Vec::new();
        for _ in 0..rows {
            (self.mutant.release)(self.input, &mut self.dice, &mut numbers);
        }
        MechanismOutputs::new(numbers.len() / rows.max(1), numbers)
    }
}

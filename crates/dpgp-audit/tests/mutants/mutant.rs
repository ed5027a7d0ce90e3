//! A mechanism of known truth.

use super::dice::NoiseSampler;
use dpgp_accounting::{Guarantee, gaussian_delta};

/// A mechanism, what it claims, what is true, and two neighbouring inputs that show it.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// Its name, in words joined by dashes.
    pub name: &'static str,
    /// What it does, in a few words.
    pub what: &'static str,
    /// What it claims.
    pub claim: Guarantee,
    /// What is true.
    pub truth: Truth,
    /// Two neighbouring inputs: answers of queries, or rows.
    pub(super) inputs: [&'static [f64]; 2],
    /// One output, whose numbers are pushed: as many for every input and every draw.
    pub(super) release: fn(&[f64], &mut NoiseSampler, &mut Vec<f64>),
}

/// What a mechanism keeps: no lower bound may exceed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    /// It keeps this epsilon at the claimed delta, and where that is more than was claimed, not the claim.
    Epsilon(f64),
    /// It keeps this delta at the claimed epsilon, and where that is more than was claimed, not the claim.
    Delta(f64),
}

impl Truth {
    /// The delta at `epsilon` of two normal distributions `shift` standard deviations apart.
    pub(super) fn of_normals(shift: f64, epsilon: f64) -> Self {
        Self::Delta(gaussian_delta(1.0 / shift, epsilon))
    }
}

impl Mutant {
    /// Whether its claim is false.
    pub fn is_broken(&self) -> bool {
        match self.truth {
            Truth::Epsilon(epsilon) => epsilon > self.claim.epsilon,
            Truth::Delta(delta) => delta > self.claim.delta,
        }
    }
}

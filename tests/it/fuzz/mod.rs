//! Readers of what people write, on damaged copies of the project's own files: an error that can be told, never a panic.
//!
//! A short walk runs with the tests, the same each time. `DPGP_FUZZ=100000 cargo test --test it fuzz::` takes more steps;
//! `scripts/fuzz` runs the program itself on such files.

mod files;
mod releases;
mod specs;
mod stores;
mod tree;

use rand::SeedableRng;
use rand_pcg::Pcg64;

/// How many damaged files of each kind are read.
fn steps() -> u64 {
    std::env::var("DPGP_FUZZ").ok().and_then(|steps| steps.parse().ok()).unwrap_or(300)
}

/// The stream of a step, so that a failure can be repeated by its number alone.
fn stream(step: u64) -> Pcg64 {
    Pcg64::seed_from_u64(step)
}

//! Designs of small problems.

pub(super) mod cases;
mod invariances;
mod optimum;

//! Designs of small problems.

mod cases;
mod invariances;
mod optimum;

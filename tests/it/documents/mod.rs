//! The README and the pages of the documentation keep their promises.

mod architecture;
mod blocks;
mod checks;
mod commands;
mod crates;
mod kernel;
mod pages;
mod reproduction;
mod specs;

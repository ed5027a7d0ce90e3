//! The README and the pages of the documentation keep their promises.

mod architecture;
mod blocks;
mod commands;
mod pages;
mod reproduction;
mod specs;

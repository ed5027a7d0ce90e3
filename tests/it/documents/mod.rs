//! The README and the pages of the documentation keep their promises.

mod architecture;
mod commands;
mod pages;
mod readme;

//! The README and the pages of the documentation keep their promises.

mod architecture;
mod pages;
mod readme;

//! The README and the pages of the documentation keep their promises.

mod pages;
mod readme;

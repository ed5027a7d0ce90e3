//! What the papers and their authors' files let one check without the published tables.

mod advi_abalone;
mod coverage;
mod errata;
mod smith2016;
mod smith2021;

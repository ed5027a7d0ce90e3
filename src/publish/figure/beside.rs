//! How numbers that others reached are marked, by their owner.

use super::grammar::{LegendEntry, Mark, Pen, Spot, Stroke, Swatch};
use crate::spec::Owner;

/// Rings for what a paper prints, squares for its authors' files, crosses for references.
pub fn beside_mark(owner: Owner, spots: Vec<Spot>, radius: f64, pen: Pen) -> Mark {
    match owner {
        Owner::Paper => Mark::Rings(spots, radius, pen),
        Owner::Authors => Mark::Strokes(spots, Stroke::Square, radius, pen),
        Owner::Reference => Mark::Strokes(spots, Stroke::Times, radius, pen),
    }
}

/// The same in a legend.
pub fn beside_legend(owner: Owner, radius: f64, pen: Pen) -> LegendEntry {
    match owner {
        Owner::Paper => Swatch::Ring(radius, pen).means("printed in the paper"),
        Owner::Authors => Swatch::Mark(Stroke::Square, radius, pen).means("the authors' files"),
        Owner::Reference => Swatch::Mark(Stroke::Times, radius, pen).means("reference of ours"),
    }
}

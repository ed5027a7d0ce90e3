//! Marks for numbers from other sources, by owner.

use crate::report::ReportRow;
use dpgp_plot::{LegendEntry, Mark, Pen, PlotPoint, Stroke, Swatch};
use dpgp_spec::Owner;

/// Rings for a paper's numbers, squares for its authors' files, crosses for references.
pub fn beside_mark(owner: Owner, spots: Vec<PlotPoint>, radius: f64, pen: Pen) -> Mark {
    match owner {
        Owner::Paper => Mark::Rings(spots, radius, pen),
        Owner::Authors => Mark::Strokes(spots, Stroke::Square, radius, pen),
        Owner::Reference => Mark::Strokes(spots, Stroke::Times, radius, pen),
    }
}

/// The spots of one owner's numbers, at the places of some rows along an axis.
pub fn beside_spots(rows: &[&ReportRow], axis: usize, owner: Owner) -> Vec<PlotPoint> {
    let mut spots = Vec::new();
    for row in rows {
        let Some(place) = row.place(axis) else { continue };
        let own = row.beside().filter(|judged| judged.counterpart.owner == owner);
        spots.extend(own.map(|judged| PlotPoint::new(place, judged.counterpart.value)));
    }
    spots
}

/// The same in a legend.
pub fn beside_legend(owner: Owner, radius: f64, pen: Pen) -> LegendEntry {
    match owner {
        Owner::Paper => Swatch::Ring(radius, pen).means("printed in the paper"),
        Owner::Authors => Swatch::Mark(Stroke::Square, radius, pen).means("the authors' files"),
        Owner::Reference => Swatch::Mark(Stroke::Times, radius, pen).means("our own reference"),
    }
}

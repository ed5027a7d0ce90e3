//! Marks for numbers from other sources, by owner.

use crate::report::ReportRow;
use dpgp_plot::{LegendEntry, Mark, MarkShape, Pen, PlotPoint, Swatch};
use dpgp_spec::ValueOwner;

/// Rings for a paper's numbers, squares for its authors' files, crosses for references.
pub fn reference_mark(owner: ValueOwner, spots: Vec<PlotPoint>, radius: f64, pen: Pen) -> Mark {
    match owner {
        ValueOwner::Paper => Mark::Rings(spots, radius, pen),
        ValueOwner::Authors => Mark::Strokes(spots, MarkShape::Square, radius, pen),
        ValueOwner::Reference => Mark::Strokes(spots, MarkShape::Times, radius, pen),
    }
}

/// The spots of one owner's numbers, at the places of some rows along an axis.
pub fn reference_points(rows: &[&ReportRow], axis: usize, owner: ValueOwner) -> Vec<PlotPoint> {
    let mut spots = Vec::new();
    for row in rows {
        let Some(place) = row.axis_value(axis) else { continue };
        let own = row.reference_comparisons().filter(|judged| judged.counterpart.owner == owner);
        spots.extend(own.map(|judged| PlotPoint::new(place, judged.counterpart.value)));
    }
    spots
}

/// The same in a legend.
pub fn reference_legend_entry(owner: ValueOwner, radius: f64, pen: Pen) -> LegendEntry {
    match owner {
        ValueOwner::Paper => Swatch::Ring(radius, pen).means("printed in the paper"),
        ValueOwner::Authors => Swatch::Mark(MarkShape::Square, radius, pen).means("the authors' files"),
        ValueOwner::Reference => Swatch::Mark(MarkShape::Times, radius, pen).means("our own reference"),
    }
}

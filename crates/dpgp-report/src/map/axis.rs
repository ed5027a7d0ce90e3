//! An input along which a picture extends.

use super::MapError;
use super::names::shown;
use dpgp_release::ReleasedInput;

/// An input along which a picture extends.
#[derive(Debug, Clone)]
pub struct MapAxis<'a> {
    /// Its name in the file.
    pub column: &'a str,
    /// Its name as it is shown.
    pub name: String,
    /// The different values, rising.
    pub places: Vec<f64>,
    /// Where cells meet: half way between values, and at the first and the last of them.
    pub edges: Vec<f64>,
}

impl<'a> MapAxis<'a> {
    /// The axis of an input over some rows, and the place of each row along it.
    ///
    /// # Errors
    /// [`MapError::Words`] if a value is no finite number.
    pub fn new(input: &'a ReleasedInput, rows: &[usize]) -> Result<(Self, Vec<usize>), MapError> {
        let numbers = rows.iter().map(|row| finite(&input.cells[*row]));
        let numbers: Option<Vec<f64>> = numbers.collect();
        let numbers = numbers.ok_or_else(|| MapError::Words(shown(&input.name)))?;
        let mut places = numbers.clone();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let at = numbers.iter().map(|number| places.partition_point(|place| place < number)).collect();
        let edges = edges(&places);
        Ok((Self { column: &input.name, name: shown(&input.name), places, edges }, at))
    }

    /// From the first edge to the last.
    pub fn ends(&self) -> [f64; 2] {
        [self.edges[0], self.edges[self.edges.len() - 1]]
    }

    /// The edges as parts of the way from the first to the last.
    pub fn fractions(&self) -> Vec<f64> {
        let [from, to] = self.ends();
        self.edges.iter().map(|edge| (edge - from) / (to - from)).collect()
    }
}

/// Minus zero is zero.
fn finite(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number + 0.0)
}

/// Nothing is drawn beyond the first and the last place.
fn edges(places: &[f64]) -> Vec<f64> {
    let between = places.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]) / 2.0);
    places.first().copied().into_iter().chain(between).chain(places.last().copied()).collect()
}

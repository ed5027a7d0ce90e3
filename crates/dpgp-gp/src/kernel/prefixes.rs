//! Products over the dimensions of a grid, each common beginning computed once.

use super::Bins;

/// The distinct beginnings of the places of bins, dimension by dimension. Bins stand in the order of their places, so that those with a common
/// beginning are neighbours, and the last dimension has one for each bin.
pub(super) struct Prefixes(Vec<Prefix>);

/// The beginnings of one length.
#[derive(Default)]
struct Prefix {
    /// Which beginning each goes on, by its number among those that are one shorter.
    parents: Vec<usize>,
    /// The place that each adds.
    places: Vec<usize>,
}

impl Prefixes {
    pub fn of(bins: &Bins) -> Self {
        let mut prefixes: Vec<Prefix> = (0..bins.dimensions()).map(|_| Prefix::default()).collect();
        for bin in 0..bins.len() {
            let places = bins.place(bin);
            let common = if bin == 0 { 0 } else { shared(bins.place(bin - 1), places) };
            let mut parent = match common {
                0 => 0,
                _ => prefixes[common - 1].places.len() - 1,
            };
            for (prefix, place) in prefixes.iter_mut().zip(places).skip(common) {
                prefix.parents.push(parent);
                prefix.places.push(*place);
                parent = prefix.places.len() - 1;
            }
        }
        Self(prefixes)
    }

    /// Writes `first` times one entry of each dimension for every bin: `((first e_0) e_1) e_2`, multiplied in the order of the dimensions.
    pub fn multiply(&self, first: f64, entries: &[&[f64]], out: &mut [f64]) {
        let mut values = vec![first];
        for (prefix, entries) in self.0.iter().zip(entries) {
            let pairs = prefix.parents.iter().zip(&prefix.places);
            values = pairs.map(|(parent, place)| values[*parent] * entries[*place]).collect();
        }
        out.copy_from_slice(&values);
    }
}

/// How many places at the beginning are the same.
fn shared(one: &[usize], other: &[usize]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To the last bit those of each bin by itself, in the order of the dimensions; also where the grid has holes.
    #[test]
    fn products_are_those_of_each_bin() {
        let grid = Bins::grid(&[(0.0, 1.0, 3), (0.0, 1.0, 2), (0.0, 1.0, 4)]);
        let entries = [vec![0.3, 0.7, 1.1], vec![0.9, 0.1], vec![0.2, 0.6, 1.3, 1.7]];
        for bins in [grid.clone(), grid.select(&[1, 2, 7, 8, 9, 16, 23])] {
            let mut found = vec![0.0; bins.len()];
            let columns: Vec<&[f64]> = entries.iter().map(Vec::as_slice).collect();
            Prefixes::of(&bins).multiply(1.9, &columns, &mut found);
            for (bin, found) in found.iter().enumerate() {
                let place = bins.place(bin);
                assert_eq!(*found, 1.9 * entries[0][place[0]] * entries[1][place[1]] * entries[2][place[2]]);
            }
        }
    }
}

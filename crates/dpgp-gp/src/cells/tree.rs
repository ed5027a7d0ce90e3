//! Nested cells of the unit box.

use crate::sites::Lattice;

/// Boxes that are halved again and again, each time along the input in which they are longest. Level k has `2^k` cells.
/// Every cell is a union of cells of a [`Lattice`].
///
/// ```
/// use dpgp_gp::cells::CellTree;
/// use dpgp_gp::sites::Lattice;
/// // The second input is twice as long, in lengthscales: it is halved first.
/// let tree = CellTree::new(Lattice::new(8, 2), &[0.2, 0.1], 3);
/// assert_eq!((tree.halvings(1), tree.halvings(2), tree.halvings(3)), (&[0, 1][..], &[1, 1][..], &[1, 2][..]));
/// assert_eq!(tree.cell(2, &[7, 0]), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellTree {
    lattice: Lattice,
    /// How often each input is halved, by level.
    halvings: Vec<Vec<u32>>,
}

impl CellTree {
    /// Of a lattice whose side is a power of two, with lengthscales in sides of the box, down to a level or to the
    /// cells of the lattice.
    pub fn new(lattice: Lattice, lengthscales: &[f64], depth: usize) -> Self {
        let most = lattice.cells_per_side().ilog2();
        let mut halvings = vec![vec![0; lattice.dimensions()]];
        for level in 0..depth {
            let mut next = halvings[level].clone();
            let mut longest: Option<(usize, f64)> = None;
            for (input, (halved, lengthscale)) in next.iter().zip(lengthscales).enumerate() {
                let length = 0.5f64.powi(*halved as i32) / lengthscale;
                if *halved < most && longest.is_none_or(|(_, known)| length > known) {
                    longest = Some((input, length));
                }
            }
            let Some((input, _)) = longest else { break };
            next[input] += 1;
            halvings.push(next);
        }
        Self { lattice, halvings }
    }

    /// A tree with the given halvings, none if they are not those of nested cells of the lattice.
    pub fn from_halvings(lattice: Lattice, halvings: Vec<Vec<u32>>) -> Option<Self> {
        let (inputs, most) = (lattice.dimensions(), lattice.cells_per_side().ilog2());
        let sound = |level: &Vec<u32>| level.len() == inputs && level.iter().all(|halved| *halved <= most);
        let nested = |pair: &[Vec<u32>]| {
            let less = pair[0].iter().zip(&pair[1]).all(|(coarse, fine)| coarse <= fine);
            less && pair[0] != pair[1]
        };
        let all = !halvings.is_empty() && halvings.iter().all(sound) && halvings.windows(2).all(nested);
        (all && lattice.cells_per_side().is_power_of_two()).then_some(Self { lattice, halvings })
    }

    /// The number of levels, that of the whole box among them.
    pub fn levels(&self) -> usize {
        self.halvings.len()
    }

    /// How often each input is halved at a level.
    pub fn halvings(&self, level: usize) -> &[u32] {
        &self.halvings[level]
    }

    /// The number of cells at a level.
    pub fn cells(&self, level: usize) -> usize {
        1 << self.halvings[level].iter().sum::<u32>()
    }

    /// The cell of a level that holds a cell of the lattice; the last input moves fastest.
    pub fn cell(&self, level: usize, coordinates: &[i64]) -> usize {
        let most = self.lattice.cells_per_side().ilog2();
        let along = self.halvings[level].iter().zip(coordinates);
        along.fold(0, |cell, (halved, place)| (cell << halved) | (*place as usize >> (most - halved)))
    }

    /// The cell of a level that holds a cell of a finer level.
    pub fn ancestor(&self, level: usize, fine: usize, cell: usize) -> usize {
        let (mut rest, mut ancestor, mut shift) = (cell, 0, 0);
        let pairs = self.halvings[level].iter().zip(&self.halvings[fine]);
        for (coarse, fine) in pairs.rev() {
            let along = rest & ((1 << fine) - 1);
            ancestor |= (along >> (fine - coarse)) << shift;
            rest >>= fine;
            shift += coarse;
        }
        ancestor
    }

    /// Where a cell of a level begins, and its lengths, in sides of the box.
    pub fn corner_and_lengths(&self, level: usize, cell: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut rest, mut corner) = (cell, vec![0.0; self.lattice.dimensions()]);
        let lengths: Vec<f64> = self.halvings[level].iter().map(|halved| 0.5f64.powi(*halved as i32)).collect();
        for (input, halved) in self.halvings[level].iter().enumerate().rev() {
            corner[input] = (rest & ((1 << halved) - 1)) as f64 * lengths[input];
            rest >>= halved;
        }
        (corner, lengths)
    }

    /// The lattice.
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells are unions of lattice cells, and nested: the ancestor of a cell holds whatever it holds.
    #[test]
    fn cells_are_nested() {
        let lattice = Lattice::new(8, 2);
        let tree = CellTree::new(lattice, &[0.3, 0.2], 6);
        assert_eq!((tree.levels(), tree.cells(6)), (7, 64));
        for place in 0..lattice.len() {
            let coordinates = lattice.coordinates(place);
            for fine in 0..tree.levels() {
                let cell = tree.cell(fine, &coordinates);
                let (corner, lengths) = tree.corner_and_lengths(fine, cell);
                for (x, (low, length)) in lattice.midpoint(place).iter().zip(corner.iter().zip(&lengths)) {
                    assert!(low < x && *x < low + length);
                }
                for level in 0..=fine {
                    assert_eq!(tree.ancestor(level, fine, cell), tree.cell(level, &coordinates));
                }
            }
        }
        assert_eq!(CellTree::new(lattice, &[0.3, 0.2], 20).levels(), 7);
    }

    #[test]
    fn halvings_must_be_nested() {
        let lattice = Lattice::new(8, 2);
        let of = |halvings: Vec<Vec<u32>>| CellTree::from_halvings(lattice, halvings);
        assert!(of(vec![vec![0, 1], vec![2, 1]]).is_some());
        assert!(of(vec![vec![1, 0], vec![0, 2]]).is_none());
        assert!(of(vec![vec![1, 0], vec![1, 0]]).is_none());
        assert!(of(vec![vec![4, 0]]).is_none() && of(vec![vec![1]]).is_none() && of(Vec::new()).is_none());
    }
}

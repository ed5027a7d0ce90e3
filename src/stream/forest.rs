//! Sums of blocks, added pairwise in a fixed tree.

use std::collections::BTreeMap;

use super::Sum;

/// A part of the rows: the `2^level` blocks from number `index 2^level` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// The first block.
    pub first: u64,
    /// The binary logarithm of the number of blocks.
    pub level: u32,
}

impl Node {
    /// The first block that does not belong to it.
    pub fn end(self) -> u64 {
        self.first + (1 << self.level)
    }

    /// The node it is added to first: the other half of the next larger node.
    fn sibling(self) -> Self {
        // The two halves of a node differ in one binary digit of their first block.
        Self { first: self.first ^ (1 << self.level), level: self.level }
    }

    fn parent(self) -> Self {
        Self { first: self.first & !(1 << self.level), level: self.level + 1 }
    }
}

/// Sums of blocks that came in any order. Those of two halves of a node are added at once, the earlier blocks first:
/// few nodes are left, at most one for each binary digit of the number of blocks, and neither they nor their sums depend
/// on the order.
///
/// ```
/// use dpgp::stream::{Forest, Node, Sums};
/// let mut forest = Forest::default();
/// for first in [2, 0, 1] {
///     forest.insert(Node { first, level: 0 }, Sums { rows: first + 1, ..Sums::zero(1) });
/// }
/// // Blocks 0 and 1 have become one node, beside block 2.
/// assert_eq!((forest.nodes().count(), forest.blocks()), (2, Some(3)));
/// assert_eq!(forest.total(Sums::zero(1)).rows, 1 + 2 + 3);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Forest<S> {
    nodes: BTreeMap<Node, S>,
}

impl<S> Default for Forest<S> {
    fn default() -> Self {
        Self { nodes: BTreeMap::new() }
    }
}

impl<S: Sum> Forest<S> {
    /// With the sums of a node that is not part of it yet.
    pub fn insert(&mut self, node: Node, sums: S) {
        match self.nodes.remove(&node.sibling()) {
            None => {
                self.nodes.insert(node, sums);
            }
            Some(other) if node.sibling() < node => self.insert(node.parent(), other.plus(&sums)),
            Some(other) => self.insert(node.parent(), sums.plus(&other)),
        }
    }

    /// The nodes in the order of their blocks.
    pub fn nodes(&self) -> impl Iterator<Item = (Node, &S)> {
        self.nodes.iter().map(|(node, sums)| (*node, sums))
    }

    /// The number of blocks, if they are there from the first on without a gap and none is there twice.
    pub fn blocks(&self) -> Option<u64> {
        self.nodes.keys().try_fold(0, |end, node| (node.first == end).then(|| node.end()))
    }

    /// All of it, added in the order of the blocks; `zero` where there is none.
    pub fn total(&self, zero: S) -> S {
        let mut nodes = self.nodes.values();
        let first = nodes.next().cloned().unwrap_or(zero);
        nodes.fold(first, |sum, next| sum.plus(next))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sums;
    use super::*;
    use rand::SeedableRng;
    use rand::seq::SliceRandom;
    use rand_pcg::Pcg64;

    fn block(number: u64) -> Sums {
        let mut sums = Sums::zero(2);
        let value = i128::from(number + 1).pow(5);
        (sums.a[0], sums.b[1], sums.squares, sums.rows) = (value, value / 3, value - 7, 1);
        sums
    }

    fn grown(order: &[u64]) -> Forest<Sums> {
        let mut forest = Forest::default();
        order.iter().for_each(|number| forest.insert(Node { first: *number, level: 0 }, block(*number)));
        forest
    }

    #[test]
    fn neither_order_nor_parts_matter() {
        for blocks in [1, 2, 3, 7, 8, 61, 100] {
            let mut order: Vec<u64> = (0..blocks).collect();
            let whole = grown(&order);
            assert_eq!((whole.blocks(), whole.nodes().count()), (Some(blocks), blocks.count_ones() as usize));
            order.shuffle(&mut Pcg64::seed_from_u64(blocks));
            assert_eq!(grown(&order), whole);
            for parts in [2, 3, 5] {
                let mut forest = Forest::default();
                for part in (0..parts).rev() {
                    let run: Vec<u64> = (blocks * part / parts..blocks * (part + 1) / parts).collect();
                    let grown = grown(&run);
                    grown.nodes().for_each(|(node, sums)| forest.insert(node, sums.clone()));
                }
                assert_eq!(forest, whole, "{blocks} blocks in {parts} parts");
            }
        }
    }

    #[test]
    fn the_total_is_the_sum() {
        let forest = grown(&(0..13).collect::<Vec<u64>>());
        let total = forest.total(Sums::zero(2));
        let naive: i128 = (0..13).map(|i| block(i).a[0]).sum();
        assert_eq!(total.a[0], naive);
        assert_eq!((total.rows, Forest::default().total(Sums::zero(2))), (13, Sums::zero(2)));
    }

    #[test]
    fn gaps_are_seen() {
        assert_eq!(Forest::<Sums>::default().blocks(), Some(0));
        assert_eq!(grown(&[0, 1, 3]).blocks(), None);
        assert_eq!(grown(&[1, 2]).blocks(), None);
    }
}

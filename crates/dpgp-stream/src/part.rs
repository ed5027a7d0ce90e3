//! The sums of a part of the rows.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Sum;

/// The sums of a run of blocks.
///
/// ```
/// use dpgp_stream::{PartSums, Sums};
/// let mut part = PartSums { blocks: 0..3, sums: Sums::zero(1) };
/// assert!(!part.add(&PartSums { blocks: 4..5, sums: Sums::zero(1) }), "block 3 is missing");
/// assert!(part.add(&PartSums { blocks: 3..5, sums: Sums::zero(1) }));
/// assert_eq!(part.blocks, 0..5);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSums<S> {
    /// The numbers of the blocks.
    pub blocks: Range<u64>,
    /// Over all their rows.
    pub sums: S,
}

impl<S: Sum> PartSums<S> {
    /// Adds the part that begins where this one ends; does nothing and says so if another does.
    #[must_use]
    pub fn add(&mut self, next: &Self) -> bool {
        let follows = self.blocks.end == next.blocks.start;
        if follows {
            self.blocks.end = next.blocks.end;
            self.sums.add(&next.sums);
        }
        follows
    }
}

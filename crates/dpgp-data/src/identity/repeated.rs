//! Files of one call that hold the same rows.

use std::collections::{BTreeMap, BTreeSet};

use super::Fingerprint;

/// The evidence, in bits, by which two files hold the same rows: more than one pair in 4,096 has by chance.
const ENOUGH: f64 = 12.0;

impl Fingerprint {
    /// Two files with the same rows, or with more of them in common than chance explains, by their places.
    ///
    /// Obligation: files whose rows were drawn independently of one population are found with probability at most `2^-12`, however
    /// many they are.
    pub fn repeated(&self) -> Option<(usize, usize)> {
        for (second, part) in self.parts.iter().enumerate() {
            let same = self.parts[..second].iter().position(|first| first == part && part.rows > 0);
            if let Some(first) = same {
                return Some((first, second));
            }
        }
        let pairs = self.samples.len() * self.samples.len().saturating_sub(1) / 2;
        let enough = ENOUGH + (pairs.max(1) as f64).log2();
        let mut alike = self.with_common_rows().into_iter();
        alike.find(|(first, second)| self.samples[*first].evidence(&self.samples[*second]) >= enough)
    }

    /// The pairs of files with a row in common.
    fn with_common_rows(&self) -> BTreeSet<(usize, usize)> {
        let mut files: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (file, sample) in self.samples.iter().enumerate() {
            sample.digests().for_each(|digest| files.entry(digest).or_default().push(file));
        }
        let mut pairs = BTreeSet::new();
        for files in files.into_values() {
            for (place, second) in files.iter().enumerate() {
                pairs.extend(files[..place].iter().map(|first| (*first, *second)));
            }
        }
        pairs
    }
}

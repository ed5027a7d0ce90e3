//! A sample of the values of a column, or of the rows of a file, with how often each of them stands there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The least digests of distinct values, 64 bits each, and how often each value was seen.
///
/// Obligation: which values are kept depends on the key alone, and the count of each is exact: the greatest digest that is kept
/// only falls, so that one that is kept at the end was kept from its first time on. Samples of parts merge to that of the whole.
///
/// ```
/// use dpgp_data::CountedSample;
/// let (mut one, mut other, mut whole) = (CountedSample::new(2), CountedSample::new(2), CountedSample::new(2));
/// [7, 3, 9, 3].iter().for_each(|digest| { one.insert(*digest); whole.insert(*digest) });
/// [9, 7, 7].iter().for_each(|digest| { other.insert(*digest); whole.insert(*digest) });
/// one.merge(&other);
/// assert_eq!(one, whole);
/// assert_eq!(String::from(one), "2 0000000000000003*2 0000000000000007*3");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CountedSample {
    most: usize,
    least: BTreeMap<u64, u64>,
    /// The greatest digest that may be kept.
    bound: u64,
}

impl CountedSample {
    /// A sample of at most so many values.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), least: BTreeMap::new(), bound: u64::MAX }
    }

    /// Takes the digest of a value.
    #[inline]
    pub fn insert(&mut self, digest: u64) {
        if digest <= self.bound {
            self.add(digest, 1);
        }
    }

    fn add(&mut self, digest: u64, times: u64) {
        if digest > self.bound {
            return;
        }
        let count = self.least.entry(digest).or_default();
        *count = count.saturating_add(times);
        if self.least.len() > self.most {
            self.least.pop_last();
        }
        if self.least.len() == self.most {
            self.bound = self.least.last_key_value().map_or(u64::MAX, |(greatest, _)| *greatest);
        }
    }

    /// Takes those of more values.
    pub fn merge(&mut self, other: &Self) {
        if other.most < self.most {
            let mut fewer = Self::new(other.most);
            self.least.iter().for_each(|(digest, times)| fewer.add(*digest, *times));
            *self = fewer;
        }
        other.least.iter().for_each(|(digest, times)| self.add(*digest, *times));
    }

    /// About how many distinct values there are; exactly, if they are fewer than are kept.
    pub(super) fn distinct(&self) -> f64 {
        match self.is_complete() {
            true => self.least.len() as f64,
            false => (self.most - 1) as f64 / ((self.bound as f64 + 1.0) / 2f64.powi(64)),
        }
    }

    /// Whether every value is kept.
    pub(super) fn is_complete(&self) -> bool {
        self.least.len() < self.most
    }

    /// How often every value was seen, if all of them were seen equally often.
    pub(super) fn even(&self) -> Option<u64> {
        let first = *self.least.values().next()?;
        self.least.values().all(|times| *times == first).then_some(first)
    }

    /// The digests of the values that are kept.
    pub(super) fn digests(&self) -> impl Iterator<Item = u64> + '_ {
        self.least.keys().copied()
    }

    /// How often each of the values was seen in both, of those that both would have kept.
    pub(super) fn pairs<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = CountPair> + use<'s> {
        let bound = self.bound.min(other.bound);
        let [ours, theirs] = [self, other].map(|sample| sample.least.range(..=bound));
        let only_there = theirs.filter(move |(digest, _)| !self.least.contains_key(*digest));
        let here = ours.map(move |(digest, times)| CountPair {
            one: *times,
            other: other.least.get(digest).copied().unwrap_or_default(),
        });
        here.chain(only_there.map(|(_, times)| CountPair { one: 0, other: *times }))
    }
}

/// How often a value was seen here and there.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountPair {
    pub one: u64,
    pub other: u64,
}

impl TryFrom<String> for CountedSample {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = "a sample of values says how many it keeps, and of each 16 hexadecimal digits and how often it was seen";
        let mut words = text.split(' ');
        let most: usize = words.next().and_then(|most| most.parse().ok()).ok_or(wrong)?;
        let mut sample = Self::new(most);
        for word in words {
            let (digest, times) = word.split_once('*').unwrap_or((word, "1"));
            let digest = (digest.len() == 16).then(|| u64::from_str_radix(digest, 16).ok()).flatten();
            let times: u64 = times.parse().map_err(|_| wrong)?;
            sample.add(digest.ok_or(wrong)?, times);
        }
        Ok(sample)
    }
}

impl From<CountedSample> for String {
    fn from(sample: CountedSample) -> Self {
        let mut text = sample.most.to_string();
        for (digest, times) in &sample.least {
            text.push_str(&format!(" {digest:016x}"));
            if *times != 1 {
                text.push_str(&format!("*{times}"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However values are dealt out to parts, and in whatever order, their sample is one.
    #[test]
    fn parts_merge_to_the_whole() {
        let values: Vec<u64> =
            (0..3000u64).map(|i| (i * i % 700).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let of = |values: &mut dyn Iterator<Item = &u64>, most| {
            let mut sample = CountedSample::new(most);
            values.for_each(|value| sample.insert(*value));
            sample
        };
        let whole = of(&mut values.iter().rev(), 64);
        let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
        values.iter().for_each(|value| *expected.entry(*value).or_default() += 1);
        assert!(whole.least.iter().eq(expected.iter().take(64)) && !whole.is_complete());
        let mut parts = of(&mut values.iter().step_by(2), 64);
        parts.merge(&of(&mut values.iter().skip(1).step_by(2), 64));
        assert_eq!(parts, whole);
        let mut fewer = of(&mut values.iter().step_by(2), 100);
        fewer.merge(&of(&mut values.iter().skip(1).step_by(2), 64));
        assert_eq!(fewer, whole);
        assert_eq!(CountedSample::try_from(String::from(whole.clone())), Ok(whole.clone()));
        let distinct = expected.len() as f64;
        assert!((whole.distinct() / distinct - 1.0).abs() < 0.5, "{} {distinct}", whole.distinct());
        for wrong in ["", "x", "2 00", "2 000000000000000g", "2 0000000000000003*", "2  "] {
            assert!(CountedSample::try_from(wrong.to_owned()).is_err(), "{wrong:?}");
        }
    }
}

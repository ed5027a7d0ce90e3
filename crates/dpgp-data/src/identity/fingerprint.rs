//! Fingerprints of the rows of files: sums of digests and samples of values. They show that files of one call
//! hold the same rows, or that two samples are too similar for different people.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::column::ColumnFingerprint;
use super::{CellDigestSum, RowSketch};

/// The rows of one file, or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSetDigest {
    /// How many there are.
    pub rows: u64,
    /// The sum of their digests.
    pub total: RowDigestSum,
}

/// A sample of rows with some columns that count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSubsetRowSketch {
    /// Their names, sorted; for people, since the sketch does not depend on them.
    pub columns: Vec<String>,
    /// The sample.
    pub sketch: RowSketch,
}

/// The rows of some files under one key: equal for equal rows, whatever the files are called and how they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsFingerprint {
    /// The name of the key.
    pub key: String,
    /// Each file, in their order.
    pub parts: Vec<RowSetDigest>,
    /// Samples of the rows, taken of all columns, of the columns that a spec reads, and of the columns in the files (without their paths).
    pub sketches: Vec<ColumnSubsetRowSketch>,
    /// The columns, by their cells; none of data that were known before columns were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnFingerprint>,
    /// The lines of text files, however they are cut into cells; none of other files, and of data that were known before lines were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<ColumnFingerprint>,
    /// A sample of the rows of each file, to compare the files of one call; no ledger keeps them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<ValueCountSample>,
    /// The same by the cells that a spec reads, with the sums of the digests of all others: copies are found that differ in columns
    /// that each file has only one cell of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_samples: Vec<ValueCountSample>,
}

impl RowSetDigest {
    /// Adds more rows.
    pub fn add(&mut self, other: &Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.total.add(&other.total);
    }
}

impl RowsFingerprint {
    /// All rows together.
    pub fn all_rows_digest(&self) -> RowSetDigest {
        let mut whole = RowSetDigest::default();
        self.parts.iter().for_each(|part| whole.add(part));
        whole
    }

    /// Whether it is of files with at most so many rows each.
    pub fn fits_row_counts(&self, mut rows: impl ExactSizeIterator<Item = u64>) -> bool {
        let are_samples = |samples: &Vec<_>| samples.is_empty() || samples.len() == self.parts.len();
        self.all_samples().into_iter().all(are_samples)
            && rows.len() == self.parts.len()
            && rows.by_ref().zip(&self.parts).all(|(most, part)| part.rows <= most)
    }

    /// Adds the rows of another part of the same files.
    pub fn add_rows(&mut self, other: &Self) {
        self.merge_columns(other);
        self.merge_lines(other);
        self.parts.iter_mut().zip(&other.parts).for_each(|(part, more)| part.add(more));
        for (samples, more) in self.all_samples_mut().into_iter().zip(other.all_samples()) {
            match samples.len() {
                0 => samples.clone_from(more),
                _ => samples.iter_mut().zip(more).for_each(|(sample, more)| sample.merge(more)),
            }
        }
        self.merge_sketches(&other.sketches);
    }

    /// Adds the rows of other files.
    pub fn add_files(&mut self, other: &Self) {
        self.merge_columns(other);
        self.merge_lines(other);
        let (ours, all) = (self.parts.len(), self.parts.len() + other.parts.len());
        for (samples, more) in self.all_samples_mut().into_iter().zip(other.all_samples()) {
            // Files whose rows were never sampled have no values, so they match no other file.
            samples.resize(ours, ValueCountSample::new(1));
            samples.extend_from_slice(more);
            samples.resize(all, ValueCountSample::new(1));
        }
        self.parts.extend(&other.parts);
        self.merge_sketches(&other.sketches);
    }

    /// The same where a person counts with so many rows at most, however often they are repeated: files are compared by whole rows
    /// alone, since persons may be alike.
    #[must_use]
    pub fn compared_by_whole_rows(self) -> Self {
        Self { read_samples: Vec::new(), ..self }
    }

    fn all_samples(&self) -> [&Vec<ValueCountSample>; 2] {
        [&self.samples, &self.read_samples]
    }

    fn all_samples_mut(&mut self) -> [&mut Vec<ValueCountSample>; 2] {
        [&mut self.samples, &mut self.read_samples]
    }

    /// Adds the columns of more rows. Where those of some rows are not known, none is: its cells would not be all.
    fn merge_columns(&mut self, other: &Self) {
        let [unknown, more_unknown] =
            [&*self, other].map(|rows| rows.columns.is_empty() && rows.all_rows_digest().rows > 0);
        if unknown || more_unknown {
            self.columns.clear();
            return;
        }
        for more in &other.columns {
            match self.columns.iter_mut().find(|known| known.name == more.name) {
                Some(known) => known.merge(more),
                None => self.columns.push(more.clone()),
            }
        }
    }

    fn merge_lines(&mut self, other: &Self) {
        match (&mut self.lines, &other.lines) {
            (Some(lines), Some(more)) => lines.merge(more),
            (lines, more) => *lines = lines.take().or_else(|| more.clone()),
        }
    }

    /// Takes what is known of the same rows.
    pub fn merge_same_rows(&mut self, other: &Self) {
        self.merge_sketches(&other.sketches);
        if self.columns.is_empty() {
            self.columns.clone_from(&other.columns);
        }
        if self.lines.is_none() {
            self.lines.clone_from(&other.lines);
        }
    }

    fn merge_sketches(&mut self, others: &[ColumnSubsetRowSketch]) {
        for other in others {
            match self.sketches.iter_mut().find(|known| known.columns == other.columns) {
                Some(known) => known.sketch.merge(&other.sketch),
                None => self.sketches.push(other.clone()),
            }
        }
    }

    /// The part that a ledger keeps.
    #[must_use]
    pub fn to_ledger_form(&self) -> Self {
        let (key, parts) = (self.key.clone(), self.parts.clone());
        let (sketches, columns) = (self.sketches.clone(), self.columns.clone());
        let lines = self.lines.clone();
        Self { key, parts, sketches, columns, lines, samples: Vec::new(), read_samples: Vec::new() }
    }

    /// The column of this name.
    pub fn column_by_name(&self, name: &str) -> Option<&ColumnFingerprint> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// A column with these cells, whatever it was called.
    pub fn column_by_cells(&self, cells: CellDigestSum) -> Option<&ColumnFingerprint> {
        self.columns.iter().find(|column| column.total == cells)
    }

    /// Whether both are the same rows, or some row is known to stand in both, or a column or the lines have cells of the same rows in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.shares_rows(other) || self.shares_lines(other) {
            return true;
        }
        let mut columns = self.columns.iter();
        self.key == other.key && columns.any(|one| other.columns.iter().any(|two| one.shares_rows(two)))
    }

    /// Whether both hold the same lines of text, and cut them into other cells: then no column of one is known in the other.
    pub fn is_split_differently(&self, other: &Self) -> bool {
        self.shares_lines(other) && !self.shares_rows(other)
    }

    /// Whether both, or a file of each, are the same rows, or some row is known to stand in both. A file of many is too small a part of them
    /// for a sample of all to hold one of its rows for certain.
    fn shares_rows(&self, other: &Self) -> bool {
        let whole = [self.all_rows_digest(), other.all_rows_digest()];
        let ours: BTreeSet<&RowSetDigest> = self.parts.iter().chain([&whole[0]]).filter(|part| part.rows > 0).collect();
        if other.parts.iter().chain([&whole[1]]).any(|part| ours.contains(part)) {
            return true;
        }
        let mut pairs = self.sketches.iter().flat_map(|one| other.sketches.iter().map(move |two| (one, two)));
        pairs.any(|(one, two)| one.sketch.shares_rows(&two.sketch))
    }

    fn shares_lines(&self, other: &Self) -> bool {
        let (Some(ours), Some(theirs)) = (&self.lines, &other.lines) else { return false };
        self.key == other.key && (ours.total == theirs.total || ours.shares_rows(theirs))
    }
}

/// The exponents to take the best of.
const EXPONENTS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

impl ValueCountSample {
    /// The evidence that values were taken of the same rows, in bits: by chance there are `b` bits once in `2^b` times.
    ///
    /// Obligation: where two sets of rows were drawn independently of one population, whatever it is, their values have at least
    /// `b` bits with probability at most `2^-b`. Of a value that was seen `s` times in both together, given `s`, a binomial number
    /// was seen in one; both have the same number with probability `q <= C(s, s/2) / 2^s <= min(1/2, (pi s/2)^(-1/2))` if `s` is even, and
    /// never if it is odd. With `w = -log2 q` for each value that was seen equally often, and nothing for others, Chernoff's bound for the sum
    /// of these independent numbers holds at every exponent. Where all values are known, the last follows from the number of rows,
    /// which may be the same by design: one that tells most is left out.
    ///
    /// Rows that were not drawn but laid out, such as the hours of a year, are alike without being the same.
    pub(super) fn same_rows_evidence_bits(&self, other: &Self) -> f64 {
        let pairs = self.shared_value_counts(other).filter_map(|pair| pair.equal_count_chance(pair.one == pair.other));
        evidence_bits(pairs.collect(), self.is_complete() && other.is_complete())
    }

    /// Whether the values are those of the same rows, but for columns of which each file has only one cell.
    ///
    /// A value stands for the cells that the spec reads. Its sum is over all other cells of its rows. Replacing the one cell of a constant
    /// column moves every sum by the same amount, modulo 2^64, for each occurrence. So only values with equal counts whose sums moved by
    /// this amount count as the same. Files that agree only in what the spec reads, such as the hours of two years, are not copies.
    ///
    /// If the sums tell rows apart, half of the rows must be the same, so that a few new rows do not hide a copy. If every unread column
    /// is constant, the sums say nothing, and rows of two people or two days may agree by chance: then 95 % must be the same.
    fn is_copy(&self, other: &Self, enough: f64) -> bool {
        let pairs: Vec<CountPair> = self.shared_value_counts(other).collect();
        let equal = || pairs.iter().filter(|pair| pair.one == pair.other && pair.one > 0);
        let scale = equal().map(|pair| pair.one.trailing_zeros()).max().unwrap_or_default();
        let moved = most_common(equal().map(|pair| pair.difference_of_sums(scale)));
        let is_same =
            |pair: &CountPair| pair.one == pair.other && pair.one > 0 && moved == Some(pair.difference_of_sums(scale));
        let mut own = equal().map(|pair| ValueCount { times: pair.one, sum: pair.own_sum }.sum_for_each_time(scale));
        let first = own.next();
        let share = if own.any(|sum| Some(sum) != first) { HALF } else { MOSTLY };
        let sum = |count: fn(&CountPair) -> u64| pairs.iter().map(count).sum::<u64>();
        let fewer = sum(|pair| pair.one).min(sum(|pair| pair.other));
        let common: u64 = pairs.iter().filter(|pair| is_same(pair)).map(|pair| pair.one).sum();
        let chances = pairs.iter().filter_map(|pair| pair.equal_count_chance(is_same(pair)));
        let bits = evidence_bits(chances.collect(), self.is_complete() && other.is_complete());
        bits >= enough && common as f64 >= share * fewer as f64
    }

    /// For each value and the next one: how often both were seen, and the difference of their sums for each occurrence. A copy has the
    /// same differences, because all its sums have moved by the same amount.
    fn differences_of_neighbours(&self) -> Vec<(u64, u64, ValueCount)> {
        let next = self.least.iter().skip(1);
        let pairs = self.least.iter().zip(next).map(|((digest, one), (_, other))| {
            let scale = one.times.trailing_zeros().max(other.times.trailing_zeros());
            let sum = one.sum_for_each_time(scale).wrapping_sub(other.sum_for_each_time(scale));
            (*digest, other.times, ValueCount { times: one.times, sum })
        });
        pairs.collect()
    }

    /// The share that two columns have in common: 1 for equal ones, also where one is a fair part of the other, 0 for those without a
    /// common value. Shares are of so many rows each.
    pub(super) fn common_value_fraction(&self, rows: u64, other: &Self, of: u64) -> f64 {
        let (mut least, mut most) = (0.0, 0.0);
        for CountPair { one, other, .. } in self.shared_value_counts(other) {
            let (one, other) = (one as f64 / rows as f64, other as f64 / of as f64);
            least += f64::min(one, other);
            most += f64::max(one, other);
        }
        if most > 0.0 { least / most } else { 0.0 }
    }
}

/// The evidence of values, each with the chance that it was seen equally often in both and whether it was.
fn evidence_bits(mut pairs: Vec<(f64, bool)>, are_all_known: bool) -> f64 {
    if are_all_known {
        let same = pairs.iter().enumerate().filter(|(_, (_, same))| *same);
        let telling = same.min_by(|(_, (one, _)), (_, (other, _))| one.total_cmp(other));
        if let Some((place, _)) = telling {
            pairs.swap_remove(place);
        }
    }
    let alike: f64 = pairs.iter().filter(|(_, same)| *same).map(|(chance, _)| -chance.log2()).sum();
    let bounds = EXPONENTS.map(|exponent| {
        let spread = pairs.iter().map(|(chance, _)| (1.0 - chance + chance.powf(1.0 - exponent)).log2());
        exponent * alike - spread.sum::<f64>()
    });
    bounds.into_iter().fold(0.0, f64::max)
}

/// The number that comes most often.
fn most_common(numbers: impl Iterator<Item = u64>) -> Option<u64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    numbers.for_each(|number| *counts.entry(number).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(number, _)| number)
}

/// The evidence, in bits, that makes the rows of two files the same: more than one pair in 4,096 has by chance.
const ENOUGH: f64 = 12.0;

/// The share of the rows of the smaller file that a copy must hold: if unread columns tell rows apart, and if they do not.
const HALF: f64 = 0.5;
const MOSTLY: f64 = 0.95;

impl RowsFingerprint {
    /// Two files with the same rows, or with more of them in common than chance explains, by their places. Copies are found, too, that
    /// differ in columns that the spec does not read and that each file has only one cell of, such as the folder of its path.
    ///
    /// Obligation: files whose rows were drawn independently of one population are found with probability at most `2^-12`, however
    /// many they are.
    pub fn find_repeated_files(&self) -> Option<(usize, usize)> {
        for (second, part) in self.parts.iter().enumerate() {
            let same = self.parts[..second].iter().position(|first| first == part && part.rows > 0);
            if let Some(first) = same {
                return Some((first, second));
            }
        }
        // Two comparisons of each pair.
        let enough = ENOUGH + ((self.parts.len() * self.parts.len().saturating_sub(1)).max(1) as f64).log2();
        let rows = pairs_with_common_key(&self.samples, usize::MAX, |sample| sample.digests().collect());
        let copies =
            pairs_with_common_key(&self.read_samples, MOST_NEIGHBOURS, ValueCountSample::differences_of_neighbours);
        let (samples, read) = (&self.samples, &self.read_samples);
        let mut rows = rows.into_iter();
        let same = rows.find(|(one, other)| samples[*one].same_rows_evidence_bits(&samples[*other]) >= enough);
        same.or_else(|| copies.into_iter().find(|(one, other)| read[*one].is_copy(&read[*other], enough)))
    }
}

/// The pairs of files with a key in common: of those that share one, each with so many before it.
fn pairs_with_common_key<K: Ord>(
    files: &[ValueCountSample],
    most: usize,
    keys: impl Fn(&ValueCountSample) -> Vec<K>,
) -> BTreeSet<(usize, usize)> {
    let mut files_of: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (file, sample) in files.iter().enumerate() {
        keys(sample).into_iter().for_each(|key| files_of.entry(key).or_default().push(file));
    }
    let mut pairs = BTreeSet::new();
    for files in files_of.into_values() {
        for (place, second) in files.iter().enumerate() {
            pairs.extend(files[place.saturating_sub(most)..place].iter().map(|first| (*first, *second)));
        }
    }
    pairs
}

/// The most earlier files that a file is compared with for one key: many files may have equal rows, such as the answers of many people.
const MOST_NEIGHBOURS: usize = 16;

/// The least digests of distinct values, 64 bits each, and how often each value was seen.
///
/// Obligation: which values are kept depends on the key alone, and the count of each is exact: the greatest digest that is kept
/// only falls, so that one that is kept at the end was kept from its first time on. Samples of parts merge to that of the whole.
///
/// ```
/// use dpgp_data::ValueCountSample;
/// let (mut one, mut other, mut whole) = (ValueCountSample::new(2), ValueCountSample::new(2), ValueCountSample::new(2));
/// [7, 3, 9, 3].iter().for_each(|digest| { one.insert(*digest); whole.insert(*digest) });
/// [9, 7, 7].iter().for_each(|digest| { other.insert(*digest); whole.insert(*digest) });
/// one.merge(&other);
/// assert_eq!(one, whole);
/// assert_eq!(String::from(one), "2 0000000000000003*2 0000000000000007*3");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ValueCountSample {
    most: usize,
    least: BTreeMap<u64, ValueCount>,
    /// The greatest digest that may be kept.
    bound: u64,
}

/// How often a value was seen, and a sum over these times, modulo 2^64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ValueCount {
    times: u64,
    sum: u64,
}

impl ValueCount {
    /// The sum for each time, times `2^scale`, modulo 2^64: of the times `2^k o` with k up to `scale`, the odd factor o has an inverse,
    /// whose digits each of Newton's steps doubles.
    fn sum_for_each_time(self, scale: u32) -> u64 {
        let (twos, odd) = (self.times.trailing_zeros(), self.times >> self.times.trailing_zeros());
        let step = |inverse: u64, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        self.sum.wrapping_mul((0..5).fold(odd.wrapping_mul(3) ^ 2, step)) << (scale - twos)
    }
}

impl ValueCountSample {
    /// A sample of at most so many values.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), least: BTreeMap::new(), bound: u64::MAX }
    }

    /// Takes the digest of a value.
    #[inline]
    pub fn insert(&mut self, digest: u64) {
        self.insert_with_sum(digest, || 0);
    }

    /// The same, with a number to be summed, which is asked for if the value is kept.
    #[inline]
    pub(super) fn insert_with_sum(&mut self, digest: u64, sum: impl FnOnce() -> u64) {
        if digest <= self.bound {
            self.add(digest, ValueCount { times: 1, sum: sum() });
        }
    }

    fn add(&mut self, digest: u64, more: ValueCount) {
        if digest > self.bound {
            return;
        }
        let count = self.least.entry(digest).or_default();
        count.times = count.times.saturating_add(more.times);
        count.sum = count.sum.wrapping_add(more.sum);
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
            self.least.iter().for_each(|(digest, count)| fewer.add(*digest, *count));
            *self = fewer;
        }
        other.least.iter().for_each(|(digest, count)| self.add(*digest, *count));
    }

    /// About how many distinct values there are; exactly, if they are fewer than are kept.
    pub(super) fn estimate_distinct_values(&self) -> f64 {
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
    pub(super) fn uniform_count(&self) -> Option<u64> {
        let first = self.least.values().next()?.times;
        self.least.values().all(|count| count.times == first).then_some(first)
    }

    /// The digests of the values that are kept.
    pub(super) fn digests(&self) -> impl Iterator<Item = u64> + '_ {
        self.least.keys().copied()
    }

    /// How often each of the values was seen in both, of those that both would have kept.
    fn shared_value_counts<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = CountPair> + use<'s> {
        let bound = self.bound.min(other.bound);
        let [ours, theirs] = [self, other].map(|sample| sample.least.range(..=bound));
        let only_there = theirs.filter(move |(digest, _)| !self.least.contains_key(*digest));
        let here = ours.map(move |(digest, one)| (*one, other.least.get(digest).copied().unwrap_or_default()));
        here.chain(only_there.map(|(_, other)| (ValueCount::default(), *other))).map(|(one, other)| CountPair {
            one: one.times,
            other: other.times,
            sums: one.sum.wrapping_sub(other.sum),
            own_sum: one.sum,
        })
    }
}

/// How often a value was seen here and there.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountPair {
    pub one: u64,
    pub other: u64,
    /// The difference of the sums, and the first of them.
    sums: u64,
    own_sum: u64,
}

impl CountPair {
    /// The chance that a value is seen equally often in both, with `is_same`; `None` if the total is odd, because then it never is.
    fn equal_count_chance(&self, is_same: bool) -> Option<(f64, bool)> {
        let all = self.one.saturating_add(self.other);
        let even = all > 0 && all.is_multiple_of(2);
        even.then(|| ((PI * all as f64 / 2.0).powf(-0.5).min(0.5), is_same))
    }

    /// `2^scale` times the difference of the sums for each occurrence of a value that was seen equally often in both.
    fn difference_of_sums(&self, scale: u32) -> u64 {
        ValueCount { times: self.one, sum: self.sums }.sum_for_each_time(scale)
    }
}

impl TryFrom<String> for ValueCountSample {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong =
            "a sample of values must state its size and, for each value, 16 hexadecimal digits, a count and a sum";
        let mut words = text.split(' ');
        let most: usize = words.next().and_then(|most| most.parse().ok()).ok_or(wrong)?;
        let mut sample = Self::new(most);
        for word in words {
            let hexadecimal =
                |text: &str| (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten().ok_or(wrong);
            let (value, sum) = word.split_once('+').unwrap_or((word, "0000000000000000"));
            let (digest, times) = value.split_once('*').unwrap_or((value, "1"));
            let times: u64 = times.parse().ok().filter(|times| *times > 0).ok_or(wrong)?;
            sample.add(hexadecimal(digest)?, ValueCount { times, sum: hexadecimal(sum)? });
        }
        Ok(sample)
    }
}

impl From<ValueCountSample> for String {
    fn from(sample: ValueCountSample) -> Self {
        let mut text = sample.most.to_string();
        for (digest, ValueCount { times, sum }) in &sample.least {
            text.push_str(&format!(" {digest:016x}"));
            if *times != 1 {
                text.push_str(&format!("*{times}"));
            }
            if *sum != 0 {
                text.push_str(&format!("+{sum:016x}"));
            }
        }
        text
    }
}

/// A sum of digests modulo 2^256: that of a multiset of rows, in any order and in any parts.
///
/// ```
/// use dpgp_data::RowDigestSum;
/// let mut sum = RowDigestSum::default();
/// [[0xff; 32], [0; 32], [0xff; 32]].iter().for_each(|digest| sum.add(&RowDigestSum::from_digest(digest)));
/// assert_eq!(sum.to_string(), format!("{}fe", "ff".repeat(31))); // 2 (2^256 - 1) = 2^256 - 2 modulo 2^256
/// assert_eq!(sum.to_string().parse(), Ok(sum));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RowDigestSum {
    /// Sixty-four bits each, the least significant first.
    words: [u64; 4],
}

/// The text is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sum of digests must have 64 hexadecimal digits")]
pub struct RowSumParseError;

impl RowDigestSum {
    /// That of one digest, its first byte the most significant.
    pub fn from_digest(digest: &[u8; 32]) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().rev().zip(digest.chunks_exact(8)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        Self { words }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        let mut carry = false;
        for (word, more) in self.words.iter_mut().zip(other.words) {
            let (sum, over) = word.overflowing_add(more);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            (*word, carry) = (sum, over || again);
        }
    }

    /// The most significant 64 bits.
    pub(super) fn high_bits(&self) -> u64 {
        self.words[3]
    }
}

impl fmt::Display for RowDigestSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words.iter().rev().try_for_each(|word| write!(f, "{word:016x}"))
    }
}

impl FromStr for RowDigestSum {
    type Err = RowSumParseError;

    fn from_str(text: &str) -> Result<Self, RowSumParseError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| RowSumParseError)?;
        Ok(Self::from_digest(&bytes))
    }
}

impl TryFrom<String> for RowDigestSum {
    type Error = RowSumParseError;

    fn try_from(text: String) -> Result<Self, RowSumParseError> {
        text.parse()
    }
}

impl From<RowDigestSum> for String {
    fn from(total: RowDigestSum) -> Self {
        total.to_string()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn sample(values: impl IntoIterator<Item = u64>) -> ValueCountSample {
        let mut sample = ValueCountSample::new(256);
        // An odd factor leaves distinct values distinct.
        values.into_iter().for_each(|value| {
            sample.insert(value.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xff51_afd7_ed55_8ccd))
        });
        sample
    }

    /// Twenty-one values that stand once in both are twenty bits, as so many flips of a coin; a binary column is hardly any.
    #[test]
    fn evidence_counts_coincidences() {
        let once = sample(0..21);
        let bits = once.same_rows_evidence_bits(&once);
        assert!((bits - 20.0).abs() < 1e-6, "{bits}");
        let binary = sample((0..1000).map(|row| row % 2));
        let bits = binary.same_rows_evidence_bits(&binary);
        assert!(bits < 6.0 && bits > 5.0, "{bits}");
        assert_eq!(once.same_rows_evidence_bits(&sample(100..121)), 0.0);
        // A half, and a copy with a tenth of other rows.
        assert!(sample(0..4000).same_rows_evidence_bits(&sample((0..4000).step_by(2))) > 60.0);
        assert!(sample(0..4000).same_rows_evidence_bits(&sample(400..4400)) > 60.0);
        // Ages: 80 values that stand about 12 times each, and fifty rows more.
        let mut random = Pcg64::seed_from_u64(3);
        let ages: Vec<u64> = (0..1000).map(|_| random.random_range(0..80)).collect();
        let more: Vec<u64> = (0..50).map(|_| random.random_range(0..80)).collect();
        let bits = sample(ages.iter().copied()).same_rows_evidence_bits(&sample(ages.iter().chain(&more).copied()));
        assert!(bits > 20.0, "{bits}");
    }

    /// Strangers of one population, however many values it has and however uneven they are: of a thousand pairs none has 20 bits.
    #[test]
    fn strangers_are_told_apart() {
        let mut random = Pcg64::seed_from_u64(7);
        for values in [2.0, 30.0, 500.0, 3000.0, 1e9] {
            for power in [1.0, 4.0] {
                let mut draw = |rows: u64| {
                    let drawn: Vec<u64> =
                        (0..rows).map(|_| (random.random::<f64>().powf(power) * values) as u64).collect();
                    sample(drawn)
                };
                let greatest =
                    (0..100).map(|trial| draw(1000).same_rows_evidence_bits(&draw(1000 - trial))).fold(0.0, f64::max);
                assert!(greatest < 12.0, "{values} {power}: {greatest}");
            }
        }
    }

    #[test]
    fn shares_are_of_rows() {
        let (all, half) = (sample((0..1000).map(|row| row % 4)), sample((0..500).map(|row| row % 4)));
        assert!((all.common_value_fraction(1000, &half, 500) - 1.0).abs() < 1e-9);
        let other = sample((0..1000).map(|row| if row < 900 { 0 } else { 1 }));
        assert!((all.common_value_fraction(1000, &other, 1000) - 0.35 / 1.65).abs() < 1e-9);
        assert_eq!(sample(0..9).common_value_fraction(9, &sample(10..19), 9), 0.0);
    }

    /// However values are dealt out to parts, and in whatever order, their sample is one.
    #[test]
    fn parts_merge_to_the_whole() {
        let values: Vec<u64> = (0..3000u64).map(|i| (i * i % 700).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let of = |values: &mut dyn Iterator<Item = &u64>, most| {
            let mut sample = ValueCountSample::new(most);
            values.for_each(|value| sample.insert(*value));
            sample
        };
        let whole = of(&mut values.iter().rev(), 64);
        let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
        values.iter().for_each(|value| *expected.entry(*value).or_default() += 1);
        let kept = whole.least.iter().map(|(digest, count)| (*digest, count.times));
        assert!(kept.eq(expected.iter().take(64).map(|(digest, times)| (*digest, *times))) && !whole.is_complete());
        let mut parts = of(&mut values.iter().step_by(2), 64);
        parts.merge(&of(&mut values.iter().skip(1).step_by(2), 64));
        assert_eq!(parts, whole);
        let mut fewer = of(&mut values.iter().step_by(2), 100);
        fewer.merge(&of(&mut values.iter().skip(1).step_by(2), 64));
        assert_eq!(fewer, whole);
        assert_eq!(ValueCountSample::try_from(String::from(whole.clone())), Ok(whole.clone()));
        let distinct = expected.len() as f64;
        assert!(
            (whole.estimate_distinct_values() / distinct - 1.0).abs() < 0.5,
            "{} {distinct}",
            whole.estimate_distinct_values()
        );
        for wrong in [
            "",
            "x",
            "2 00",
            "2 000000000000000g",
            "2 0000000000000003*",
            "2 0000000000000003*0",
            "2 0000000000000003+1",
            "2  ",
        ] {
            assert!(ValueCountSample::try_from(wrong.to_owned()).is_err(), "{wrong:?}");
        }
    }
}

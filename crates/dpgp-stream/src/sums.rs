//! Sums over some of the rows, in memory and on disk, exact to the last bit.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::summand::is_possible_row_count;
use super::{BLOCK, MergeableSum, PartialSums};
use dpgp_data::{Digest, RowsFingerprint};
use dpgp_gp::variational::{IntegerSumUnits, IntegerSums, SufficientStatistics};

/// The sums that a variational model needs of some rows: `A = sum_i k_i y_i`, `B = sum_i k_i k_i'`, the number of rows and
/// the squares of their targets. All are whole numbers, in units that the summand knows ([`IntegerSumUnits`]), and without
/// rounding: the same in every order of the rows, and those of shards add up to the last bit.
///
/// Obligation: these are exact sums, as private as the rows; a release adds noise to A and B
/// (`SumsNoise::release_integers`).
/// `rows`, `squares` and `clipped` are private too and are for the holder of the data alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SerializedKernelSums", into = "SerializedKernelSums")]
pub struct KernelSums {
    /// `A`, m numbers.
    pub a: Vec<i128>,
    /// The lower triangle of `B` (m x m), column by column.
    pub b: Vec<i128>,
    /// The rows.
    pub rows: u64,
    /// `sum_i y_i^2`.
    pub squares: i128,
    /// Rows whose target was clipped.
    pub clipped: u64,
}

impl KernelSums {
    /// The sums of no rows, for m inducing inputs.
    pub fn zero(m: usize) -> Self {
        Self { a: vec![0; m], b: vec![0; m * (m + 1) / 2], rows: 0, squares: 0, clipped: 0 }
    }

    /// Converts the exact sums to the sufficient statistics of the model, without noise.
    pub fn statistics(&self, units: IntegerSumUnits) -> SufficientStatistics {
        self.as_integer_sums(units).to_sufficient_statistics(usize::try_from(self.rows).unwrap_or(usize::MAX))
    }

    /// A and B, in these units.
    pub fn as_integer_sums(&self, units: IntegerSumUnits) -> IntegerSums<'_> {
        IntegerSums { a: &self.a, b: &self.b, units }
    }
}

impl MergeableSum for KernelSums {
    fn add(&mut self, other: &Self) {
        self.a.iter_mut().zip(&other.a).for_each(|(sum, more)| *sum += more);
        self.b.iter_mut().zip(&other.b).for_each(|(sum, more)| *sum += more);
        self.rows += other.rows;
        self.squares += other.squares;
        self.clipped += other.clipped;
    }

    fn is_compatible_with(&self, other: &Self) -> bool {
        self.a.len() == other.a.len() && self.squares >= 0 && is_possible_row_count(self.clipped, self.rows)
    }
}

/// The numbers of some sums. Wide ones are written in decimal, as text: no reader of JSON keeps all their digits otherwise.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SerializedKernelSums {
    /// Rows that pass the filters.
    rows: u64,
    /// Those whose target was clipped.
    clipped: u64,
    /// The sum of the squared targets.
    squares: String,
    /// `A`.
    a: Vec<String>,
    /// The lower triangle of `B`, column by column.
    b: Vec<String>,
}

impl From<KernelSums> for SerializedKernelSums {
    fn from(KernelSums { a, b, rows, squares, clipped }: KernelSums) -> Self {
        Self { rows, clipped, squares: squares.to_string(), a: texts(&a), b: texts(&b) }
    }
}

impl TryFrom<SerializedKernelSums> for KernelSums {
    type Error = &'static str;

    fn try_from(record: SerializedKernelSums) -> Result<Self, Self::Error> {
        let SerializedKernelSums { rows, clipped, squares, a, b } = record;
        let m = a.len();
        if b.len() != m * (m + 1) / 2 {
            return Err("the two sums have different numbers of inducing inputs");
        }
        Ok(Self {
            a: parse_integers(&a)?,
            b: parse_integers(&b)?,
            rows,
            squares: parse_bounded_integer(&squares)?,
            clipped,
        })
    }
}

fn texts(numbers: &[i128]) -> Vec<String> {
    numbers.iter().map(i128::to_string).collect()
}

fn parse_integers(texts: &[String]) -> Result<Vec<i128>, &'static str> {
    texts.iter().map(|text| parse_bounded_integer(text)).collect()
}

/// A number that leaves room for as many others: sums of sums must not overflow.
fn parse_bounded_integer(text: &str) -> Result<i128, &'static str> {
    let number = text.parse::<i128>().map_err(|_| "a sum is not a 128-bit integer")?;
    if number.unsigned_abs() < 1 << 120 { Ok(number) } else { Err("a sum is larger than its rows can produce") }
}

/// The version of the form of a record.
const VERSION: u32 = 4;

/// Sums over some blocks of the rows of some files. Numbers are written so that they read back exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPartialSums<S> {
    /// The version of its form.
    #[serde(deserialize_with = "read_supported_version")]
    pub version: u32,
    /// A note to readers: exact sums are as private as the rows.
    pub note: String,
    /// Rows of a block.
    pub block: usize,
    /// SHA-256 of the summand.
    pub summand: String,
    /// The files, in the order of their rows.
    pub files: Vec<RowFileSummary>,
    /// Which rows they are, by keyed digests; none if they were summed without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<RowsFingerprint>,
    /// The sums.
    pub part: PartialSums<S>,
    /// SHA-256 of the record without it; none in files of earlier versions. It detects damage, and is not a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFileSummary {
    /// Its name, without its folder, after the partitions that its path names.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its rows, those that do not pass the filters too.
    pub rows: u64,
}

impl<S: MergeableSum> StoredPartialSums<S> {
    /// The record of a part of the rows of some files.
    pub fn new(summand: String, files: Vec<RowFileSummary>, part: PartialSums<S>) -> Self {
        let note = "exact sums, as private as the rows: do not publish them".to_owned();
        Self { version: VERSION, note, block: BLOCK, summand, files, identity: None, part, checksum: None }
    }

    /// The same with the identity of the rows.
    #[must_use]
    pub fn with_fingerprint(self, identity: Option<RowsFingerprint>) -> Self {
        Self { identity, ..self }
    }

    /// The same with its checksum.
    ///
    /// # Errors
    /// [`serde_json::Error`] if it cannot be written.
    pub fn with_checksum(self) -> serde_json::Result<Self>
    where
        S: Serialize,
    {
        let checksum = Some(self.compute_checksum()?);
        Ok(Self { checksum, ..self })
    }

    /// Whether it matches its checksum. A record without a checksum passes.
    pub fn has_valid_checksum(&self) -> bool
    where
        S: Serialize,
    {
        self.checksum.as_ref().is_none_or(|checksum| self.compute_checksum().is_ok_and(|found| found == *checksum))
    }

    /// Numbers are written in one way, so that layout does not count.
    fn compute_checksum(&self) -> serde_json::Result<String>
    where
        S: Serialize,
    {
        let bare = Self { checksum: None, ..self.clone() };
        Ok(Digest::of_bytes(serde_json::to_string(&bare)?.as_bytes()).to_string())
    }

    /// Whether this program makes such blocks, of the files, and their sums fit others. What is known of the rows must be of the
    /// same files.
    pub fn is_valid_and_compatible_with(&self, other: &S) -> bool {
        let rows = || self.files.iter().map(|file| file.rows);
        if !self.identity.as_ref().is_none_or(|identity| identity.fits_row_counts(rows())) {
            return false;
        }
        let blocks = &self.part.blocks;
        let of_files = blocks.start <= blocks.end && self.total_block_count().is_some_and(|all| blocks.end <= all);
        self.block == BLOCK && of_files && self.part.sums.is_compatible_with(other)
    }

    /// The blocks that all rows make; none for more rows than there can be.
    pub fn total_block_count(&self) -> Option<u64> {
        let rows = self.files.iter().try_fold(0u64, |sum, file| sum.checked_add(file.rows));
        rows.map(|rows| rows.div_ceil(BLOCK as u64))
    }
}

/// Reads the version, which comes before all that depends on it.
fn read_supported_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!("unsupported version {other}; this program reads version {VERSION}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::KernelSums;
    use super::*;

    #[test]
    fn numbers_read_back_exactly() {
        let value = |i: usize| if i.is_multiple_of(2) { i as i128 - (1 << 118) } else { (1 << 90) + i as i128 };
        let (a, b) = ((0..3).map(value).collect(), (4..10).map(value).collect());
        let sums = KernelSums { a, b, rows: 9, squares: 1 << 100, clipped: 1 };
        let files = vec![RowFileSummary { name: "f".to_owned(), bytes: 1, rows: 3 * BLOCK as u64 - 5 }];
        let record = StoredPartialSums::new("x".to_owned(), files, PartialSums { blocks: 1..3, sums });
        let read: StoredPartialSums<KernelSums> =
            serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(read, record);
        assert!(
            read.is_valid_and_compatible_with(&KernelSums::zero(3))
                && !read.is_valid_and_compatible_with(&KernelSums::zero(2))
        );
        assert!(read.has_valid_checksum());
        let checked = record.with_checksum().unwrap();
        let text = serde_json::to_string_pretty(&checked).unwrap();
        let mut read: StoredPartialSums<KernelSums> = serde_json::from_str(&text).unwrap();
        assert!(read == checked && read.has_valid_checksum());
        read.part.sums.squares += 1;
        assert!(!read.has_valid_checksum());
    }

    /// Whether a part of seven rows is sound.
    fn is_sound_part(blocks: Range<u64>, sums: KernelSums) -> bool {
        let files = vec![RowFileSummary { name: "f".to_owned(), bytes: 1, rows: 7 }];
        StoredPartialSums::new("x".to_owned(), files, PartialSums { blocks, sums })
            .is_valid_and_compatible_with(&KernelSums::zero(1))
    }

    #[test]
    fn sums_that_no_rows_make_are_not_sound() {
        let sums = KernelSums { rows: 7, clipped: 2, ..KernelSums::zero(1) };
        assert!(is_sound_part(0..1, sums.clone()));
        let backwards = Range { start: 1, end: 0 };
        assert!(!is_sound_part(0..2, sums.clone()) && !is_sound_part(backwards, sums.clone()));
        assert!(!is_sound_part(0..1, KernelSums { clipped: 8, ..sums.clone() }));
        assert!(!is_sound_part(0..1, KernelSums { squares: -1, ..sums.clone() }));
        assert!(!is_sound_part(0..1, KernelSums { rows: u64::MAX, ..sums }));
    }
}

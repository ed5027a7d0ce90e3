//! Chooses the rows of each person. A guarantee about persons needs a bound on the rows per person. Of the
//! rows of a person that pass the filters, at most a public number is used ([`PersonRowSampler`]). The choice
//! depends only on that person's own rows, so no person influences the rows of another.

use std::borrow::Cow;
use std::collections::{BTreeMap, BinaryHeap};

use sha2::{Digest, Sha256};

use crate::missing::is_missing_word;

/// Prefix hashed before a person and a row, so that the hash serves nothing else.
const PURPOSE: &[u8] = b"dpgp row of a person\n";

/// Chooses at most `most` rows of each person: those with the least tags, where the tag of a row is a hash of the person and of
/// the row's cells. Of rows with equal cells the first are taken.
///
/// Obligation: let the rows of one person be added, removed or replaced, while those of all others keep their order. Which rows
/// of any other person are used does not change. Proof: a row is used if fewer than `most` rows of the same person have a
/// smaller tag, or an equal one and come before it. Its tag and those of the rows that it is compared with depend on that
/// person's rows alone, and so does the order among them. The hash needs no secret for it.
///
/// The rows that are used of a person have the same cells in whatever order all rows come, because rows with equal tags have
/// equal cells (but once in `2^128`). So what is summed over them does not depend on the order of rows, files or shards.
///
/// Memory: about 200 bytes for a person, and 32 for each row of a person that is used beyond the fourth.
///
/// ```
/// use dpgp_data::{PersonId, PersonRowSampler};
/// let mut rows = PersonRowSampler::new(2);
/// let (ann, bob) = (PersonId::parse("Ann").unwrap(), PersonId::parse("Bob").unwrap());
/// (0..5).for_each(|row| rows.insert(ann, &[row as f64], row));
/// rows.insert(bob, &[0.0], 5);
/// let kept = rows.into_kept_rows();
/// assert_eq!((kept.row_count(), kept.contains(5)), (3, true));
/// ```
#[derive(Debug)]
pub struct PersonRowSampler {
    most: usize,
    least: BTreeMap<PersonId, BinaryHeap<TaggedRow>>,
}

/// A row, in the order in which rows are taken.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TaggedRow {
    tag: u128,
    row: u64,
}

impl PersonRowSampler {
    /// At most so many rows of each person.
    pub fn new(most: usize) -> Self {
        Self { most, least: BTreeMap::new() }
    }

    /// Takes a row of a person: its number, and the cells that it may be chosen by.
    pub fn insert(&mut self, person: PersonId, cells: &[f64], row: u64) {
        let next = TaggedRow { tag: row_tag(person, cells), row };
        let least = self.least.entry(person).or_default();
        if least.len() < self.most {
            least.push(next);
        } else if let Some(mut greatest) = least.peek_mut()
            && next < *greatest
        {
            *greatest = next;
        }
    }

    /// The rows that are used.
    pub fn into_kept_rows(self) -> KeptRows {
        let mut kept = KeptRows::default();
        self.least.into_values().flatten().for_each(|tagged| kept.insert(tagged.row));
        kept
    }
}

/// The first 128 bits of SHA-256 of a person and cells.
fn row_tag(person: PersonId, cells: &[f64]) -> u128 {
    let mut hash = Sha256::new_with_prefix(PURPOSE).chain_update(person.bytes());
    // Nought without its sign.
    cells.iter().for_each(|cell| hash.update((cell + 0.0).to_bits().to_be_bytes()));
    hash.finalize().iter().take(16).fold(0, |tag, byte| tag << 8 | u128::from(*byte))
}

/// The person that a cell names: SHA-256 of its text without blanks around it, or of its number in the shortest decimal form.
///
/// Numbers count by their value: `7`, `07`, `7.0` and `7e0` are one person, in text and in Parquet. Whole numbers are told
/// apart whatever their length. Cells that two people share make one person of them, which is safe: they then have one share
/// of rows together, and are hidden together. One person under two names is two persons, and hidden as such.
///
/// ```
/// use dpgp_data::PersonId;
/// assert_eq!(PersonId::parse(" 7.0 "), PersonId::parse("07"));
/// assert_ne!(PersonId::parse("9007199254740993"), PersonId::parse("9007199254740992"));
/// assert_ne!(PersonId::parse("Ann"), PersonId::parse("ann"));
/// assert_eq!(PersonId::parse("  "), None);
/// assert_eq!(PersonId::parse("NA"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonId([u8; 32]);

impl PersonId {
    /// The person that a text names; none if it is empty, or a word for a missing cell: `NA`, `NaN` and `null`, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && !is_missing_word(text))
            .then(|| Self(Sha256::digest(normalize_number_text(text).as_bytes()).into()))
    }

    /// The person that a number names; none if it is not finite.
    pub fn of_number(number: f64) -> Option<Self> {
        if number.is_finite() { Self::parse(&shortest_decimal(number)) } else { None }
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The same text for all ways to write a number; any other text as it is.
fn normalize_number_text(text: &str) -> Cow<'_, str> {
    if let Some(whole) = normalize_integer_text(text) {
        return whole;
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Cow::Owned(shortest_decimal(number)),
        // Words such as `inf` are names.
        _ => Cow::Borrowed(text),
    }
}

/// A whole number without sign and noughts that do not matter: a double would round a long one.
fn normalize_integer_text(text: &str) -> Option<Cow<'_, str>> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match digits.trim_start_matches('0') {
        "" => Cow::Borrowed("0"),
        digits if negative => Cow::Owned(format!("-{digits}")),
        digits => Cow::Borrowed(digits),
    })
}

/// Without an exponent, so that whole numbers look like those in text.
fn shortest_decimal(number: f64) -> String {
    // Nought without its sign.
    (number + 0.0).to_string()
}

/// Bits of a word.
const BITS: u64 = 64;

/// The rows that are used, by their numbers from 0.
///
/// ```
/// let mut kept = dpgp_data::KeptRows::default();
/// [70, 2].into_iter().for_each(|row| kept.insert(row));
/// assert_eq!(kept.row_indicators(1, 3).collect::<Vec<f64>>(), [0.0, 1.0, 0.0]);
/// assert_eq!((kept.row_count(), kept.contains(70), kept.contains(1 << 40)), (2, true, false));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptRows {
    words: Vec<u64>,
}

impl KeptRows {
    /// Takes a row.
    pub fn insert(&mut self, row: u64) {
        let word = (row / BITS) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (row % BITS);
    }

    /// Whether a row is among them.
    pub fn contains(&self, row: u64) -> bool {
        self.words.get((row / BITS) as usize).is_some_and(|word| word >> (row % BITS) & 1 == 1)
    }

    /// How many there are.
    pub fn row_count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// 1 for each of so many rows from one on that is among them, 0 for each other.
    pub fn row_indicators(&self, from: u64, rows: usize) -> impl Iterator<Item = f64> {
        (from..from + rows as u64).map(|row| f64::from(u8::from(self.contains(row))))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{ProptestConfig, Strategy, prop_assert, prop_assert_eq, proptest};
    use proptest::strategy::Just;

    use super::*;

    /// A person by number, and one cell; few of either, so that persons have several rows and equal ones.
    type Row = (u8, u8);

    /// The cells that are used of each person.
    fn used(rows: &[Row], most: usize) -> BTreeMap<u8, Vec<u8>> {
        let mut chosen = PersonRowSampler::new(most);
        for (number, row) in rows.iter().enumerate() {
            chosen.insert(PersonId::of_number(f64::from(row.0)).unwrap(), &[f64::from(row.1)], number as u64);
        }
        let kept = chosen.into_kept_rows();
        let mut used: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
        for (number, row) in rows.iter().enumerate().filter(|row| kept.contains(row.0 as u64)) {
            assert!(number < rows.len());
            used.entry(row.0).or_default().push(row.1);
        }
        used.values_mut().for_each(|cells| cells.sort_unstable());
        used
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        proptest::collection::vec((0u8..6, 0u8..5), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// As many rows as a person has, but never more than allowed: also of equal rows.
        #[test]
        fn no_person_has_more(rows in rows(), most in 1usize..5) {
            let used = used(&rows, most);
            for person in 0..6 {
                let has = rows.iter().filter(|row| row.0 == person).count();
                prop_assert_eq!(used.get(&person).map_or(0, Vec::len), has.min(most));
            }
        }

        /// Other rows of one person, at any places, leave those that are used of all others as they were.
        #[test]
        fn a_person_has_no_say_in_the_rows_of_others(
            rows in rows(), other in proptest::collection::vec((0usize..70, 0u8..5), 0..20), person in 0u8..6, most in 1usize..5,
        ) {
            let mut neighbour: Vec<Row> = rows.iter().copied().filter(|row| row.0 != person).collect();
            for (place, cell) in other {
                neighbour.insert(place.min(neighbour.len()), (person, cell));
            }
            let [mut before, mut after] = [used(&rows, most), used(&neighbour, most)];
            before.remove(&person);
            after.remove(&person);
            prop_assert_eq!(before, after);
        }

        #[test]
        fn the_order_of_rows_does_not_matter(
            rows in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())), most in 1usize..5,
        ) {
            prop_assert!(used(&rows.0, most) == used(&rows.1, most));
        }
    }

    /// Cells that a row is not chosen by have no say: the first of equal rows are taken.
    #[test]
    fn the_first_of_equal_rows_are_taken() {
        let ann = PersonId::parse("Ann").unwrap();
        let mut chosen = PersonRowSampler::new(2);
        [7, 3, 5].into_iter().for_each(|row| chosen.insert(ann, &[1.0], row));
        let kept = chosen.into_kept_rows();
        assert_eq!([3, 5, 7].map(|row| kept.contains(row)), [true, true, false]);
    }

    /// Persons have orders of their own: nobody's cell is preferred.
    #[test]
    fn no_cell_is_used_of_everybody() {
        let mut first = [0; 4];
        for person in 0..400 {
            let mut chosen = PersonRowSampler::new(1);
            let person = PersonId::of_number(f64::from(person)).unwrap();
            (0..4).for_each(|row| chosen.insert(person, &[row as f64], row));
            let kept = chosen.into_kept_rows();
            (0..4).for_each(|row| first[row as usize] += u32::from(kept.contains(row)));
        }
        // Five standard deviations of a binomial count about 100.
        assert!(first.iter().all(|count| (57..144).contains(count)), "{first:?}");
    }

    #[test]
    fn numbers_count_by_their_value() {
        for (one, other, same) in [
            ("1", "1.0", true),
            ("1", " +1e0 ", true),
            ("-0", "0.0", true),
            ("0012", "12", true),
            ("1e3", "1000", true),
            ("-5", "5", false),
            ("1.5", "15e-1", true),
            ("18446744073709551617", "18446744073709551616", false),
            ("inf", "Inf", false),
            ("a1", "a01", false),
            ("-", "--", false),
        ] {
            assert_eq!(PersonId::parse(one) == PersonId::parse(other), same, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_missing_cell_is_nobody() {
        for nothing in ["", "  ", "NA", " na ", "NaN", "nan", "null", "NULL"] {
            assert_eq!(PersonId::parse(nothing), None, "{nothing:?}");
        }
        for there in ["N/A", "Nan A", "none", "-", "0"] {
            assert!(PersonId::parse(there).is_some(), "{there:?}");
        }
    }

    #[test]
    fn numbers_of_columns_are_those_of_text() {
        for (number, text) in [(1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1e21, "1000000000000000000000")] {
            assert_eq!(PersonId::of_number(number), PersonId::parse(text), "{text}");
        }
        assert_eq!(PersonId::of_number(f64::NAN), None);
    }
}

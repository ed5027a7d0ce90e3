//! Identity of a column by keyed digests (HMAC-SHA-256) of its cells, independent of its name.

use std::fmt;
use std::io::Read;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::fingerprint::ValueCountSample;

/// The evidence, in bits, that makes two columns those of the same rows.
const ENOUGH: f64 = 20.0;

/// The sum of the digests of all cells of a column modulo 2^128: that of their multiset.
///
/// ```
/// use dpgp_data::CellDigestSum;
/// let mut sum = CellDigestSum::default();
/// [u128::MAX, 3].iter().for_each(|digest| sum.add(*digest));
/// assert_eq!(String::from(sum), format!("{}2", "0".repeat(31)));
/// assert_eq!(CellDigestSum::try_from(String::from(sum)), Ok(sum));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CellDigestSum(u128);

/// A column of some rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnFingerprint {
    /// Its name when it was read, for people.
    pub name: String,
    /// The sum of the digests of its cells.
    pub total: CellDigestSum,
    /// Whether its numbers stand so close that some would be equal if they had been drawn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) crowded: bool,
    /// A sample of its distinct cells, and how often each stands there.
    pub(super) cells: ValueCountSample,
}

/// A column as its cells are read.
#[derive(Debug)]
pub(super) struct ColumnAccumulator {
    pub name: String,
    total: CellDigestSum,
    cells: ValueCountSample,
    spacing: NumberSpacing,
}

impl CellDigestSum {
    /// Adds the digest of a cell.
    pub fn add(&mut self, digest: u128) {
        self.0 = self.0.wrapping_add(digest);
    }
}

impl fmt::Display for CellDigestSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl TryFrom<String> for CellDigestSum {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = (text.len() == 32).then(|| u128::from_str_radix(&text, 16).ok()).flatten();
        digits.map(Self).ok_or("a sum of cell digests must have 32 hexadecimal digits")
    }
}

impl From<CellDigestSum> for String {
    fn from(total: CellDigestSum) -> Self {
        total.to_string()
    }
}

impl ColumnAccumulator {
    /// A column without cells yet. It remembers at most `most` distinct cells.
    pub fn new(name: &str, most: usize) -> Self {
        let (total, cells, spacing) = (CellDigestSum::default(), ValueCountSample::new(most), NumberSpacing::default());
        Self { name: name.to_owned(), total, cells, spacing }
    }

    /// The same for a column of text, whose numbers, if any, are never taken for crowded.
    pub fn with_text_cells(name: &str, most: usize) -> Self {
        let mut words = Self::new(name, most);
        words.observe_number(None);
        words
    }

    /// Takes the digest of a cell.
    #[inline]
    pub fn insert(&mut self, digest: u128) {
        self.total.add(digest);
        self.cells.insert((digest >> 64) as u64);
    }

    /// Learns of a cell that holds a number, or none.
    #[inline]
    pub fn observe_number(&mut self, number: Option<f64>) {
        self.spacing.insert(number);
    }

    /// Final fingerprint of the column.
    pub fn into_fingerprint(self) -> ColumnFingerprint {
        let crowded = self.spacing.is_denser_than_chance(self.cells.estimate_distinct_values());
        ColumnFingerprint { name: self.name, total: self.total, crowded, cells: self.cells }
    }
}

impl ColumnFingerprint {
    /// Adds the cells of more rows of the column.
    pub(super) fn merge(&mut self, other: &Self) {
        self.total.add(other.total.0);
        self.cells.merge(&other.cells);
        // Numbers may stand close in one part and not in all of them: then this column is no evidence, and the others still are.
        self.crowded |= other.crowded;
    }

    /// Whether two columns hold cells of the same rows, beyond what chance explains.
    ///
    /// Those that were laid out do not tell: numbers that stand close and equally often, such as serial numbers, and few values that
    /// stand equally often.
    pub fn shares_rows(&self, other: &Self) -> bool {
        !self.has_systematic_values()
            && !other.has_systematic_values()
            && self.cells.same_rows_evidence_bits(&other.cells) >= ENOUGH
    }

    fn has_systematic_values(&self) -> bool {
        let even = self.cells.uniform_count();
        even.is_some_and(|times| self.crowded || (times > 1 && self.cells.is_complete()))
    }

    /// The share of cells that two columns have in common, of so many rows each, from 0 to 1.
    pub fn common_cell_fraction(&self, rows: u64, other: &Self, of: u64) -> f64 {
        if self.total == other.total { 1.0 } else { self.cells.common_value_fraction(rows, &other.cells, of) }
    }
}

/// The most decimals of numbers that have a step.
const DECIMALS: i32 = 4;

/// How many pairs of equal numbers there would be, if numbers that stand close had been drawn: then one in twenty columns has none.
const PAIRS: f64 = 3.0;

/// How far a number may be off its step, in steps: it was read from text, or has 24 bits.
const OFF: f64 = 1e-4;

/// The range of the numbers of a column, and the step between them.
#[derive(Debug)]
pub(super) struct NumberSpacing {
    least: f64,
    greatest: f64,
    /// The decimals of the step; more than there may be for numbers without one.
    decimals: i32,
    /// Ten to the power of them.
    scale: f64,
    /// Whether all cells are numbers.
    numbers: bool,
}

impl Default for NumberSpacing {
    fn default() -> Self {
        Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY, decimals: 0, scale: 1.0, numbers: true }
    }
}

impl NumberSpacing {
    /// Takes a cell: a finite number, or none.
    #[inline]
    pub fn insert(&mut self, number: Option<f64>) {
        let Some(number) = number else {
            self.numbers = false;
            return;
        };
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        while self.decimals <= DECIMALS && !is_nearly_whole(number * self.scale) {
            self.decimals += 1;
            self.scale *= 10.0;
        }
    }

    /// Whether so many distinct numbers stand so close that, drawn evenly from the steps in their range, some would be equal.
    pub fn is_denser_than_chance(&self, distinct: f64) -> bool {
        let steps = (self.greatest - self.least) * self.scale + 1.0;
        self.numbers && self.decimals <= DECIMALS && distinct * distinct >= 2.0 * PAIRS * steps
    }
}

#[inline]
fn is_nearly_whole(number: f64) -> bool {
    (number - number.round()).abs() <= OFF
}

/// SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012) under a key of its own: a pseudorandom function that takes a
/// cell in a fraction of the time of SHA-256.
#[derive(Debug, Clone)]
pub(super) struct CellHashKey {
    words: [u64; 2],
}

/// The state of the function.
type SipHashState = [u64; 4];

impl CellHashKey {
    /// From the key of the holder; it reveals nothing about that key.
    pub fn new(key: &HmacKey) -> Self {
        let tag = key.tag(b"dpgp cells");
        Self { words: [little_endian_u64(&tag[..8]), little_endian_u64(&tag[8..16])] }
    }

    /// The digest of some bytes: of two messages they agree once in 2^128.
    pub fn digest(&self, message: &[u8]) -> u128 {
        let [k0, k1] = self.words;
        let mut v: SipHashState = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        let words = message.chunks_exact(8);
        let last = little_endian_u64(words.remainder()) | (message.len() as u64) << 56;
        for m in words.map(little_endian_u64).chain([last]) {
            v[3] ^= m;
            v = sip_round(sip_round(v));
            v[0] ^= m;
        }
        v[2] ^= 0xee;
        v = sip_round(sip_round(sip_round(sip_round(v))));
        let low = v[0] ^ v[1] ^ v[2] ^ v[3];
        v[1] ^= 0xdd;
        v = sip_round(sip_round(sip_round(sip_round(v))));
        let high = v[0] ^ v[1] ^ v[2] ^ v[3];
        u128::from(high) << 64 | u128::from(low)
    }
}

/// At most eight bytes, the first of them the least significant.
fn little_endian_u64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn sip_round([a, b, c, d]: SipHashState) -> SipHashState {
    let (a, c) = (a.wrapping_add(b), c.wrapping_add(d));
    let (b, d) = (b.rotate_left(13) ^ a, d.rotate_left(16) ^ c);
    let (c, a) = (c.wrapping_add(b), a.rotate_left(32).wrapping_add(d));
    let (b, d) = (b.rotate_left(17) ^ c, d.rotate_left(21) ^ a);
    [a, b, c.rotate_left(32), d]
}

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// A secret key, ready to tag messages. It never shows itself.
///
/// ```
/// let key = dpgp_data::HmacKey::new(b"Jefe");
/// let tag = key.tag(b"what do ya want for nothing?"); // RFC 4231, test case 2
/// assert!(hex::encode(tag).starts_with("5bdcc146bf60754e6a042426089575c7"));
/// ```
#[derive(Clone)]
pub struct HmacKey {
    /// SHA-256 after the key with the inner pad.
    inner: Sha256,
    /// SHA-256 after the key with the outer pad.
    outer: Sha256,
}

impl fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataKey(secret)")
    }
}

impl HmacKey {
    /// The key of these bytes; more than a block of them are hashed first.
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        if key.len() > BLOCK {
            block[..32].copy_from_slice(&Sha256::digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        Self { inner: hash_padded_key(&block, 0x36), outer: hash_padded_key(&block, 0x5c) }
    }

    /// A key for one purpose. It reveals nothing about this key or those of other purposes.
    #[must_use]
    pub fn for_purpose(&self, purpose: &str) -> Self {
        Self::new(&self.tag(purpose.as_bytes()))
    }

    /// The tag of a message: `H(key ^ opad | H(key ^ ipad | message))`.
    pub fn tag(&self, message: &[u8]) -> [u8; 32] {
        self.tag_pieces([message])
    }

    /// The tag of a message in pieces.
    pub(super) fn tag_pieces<'m>(&self, pieces: impl IntoIterator<Item = &'m [u8]>) -> [u8; 32] {
        let mut inner = self.inner.clone();
        pieces.into_iter().for_each(|piece| inner.update(piece));
        self.finish_hmac(inner)
    }

    /// The tag of all that a reader gives.
    ///
    /// # Errors
    /// The I/O error.
    pub fn tag_reader(&self, mut from: impl Read) -> std::io::Result<[u8; 32]> {
        let (mut inner, mut buffer) = (self.inner.clone(), vec![0; BUFFER]);
        loop {
            match from.read(&mut buffer)? {
                0 => return Ok(self.finish_hmac(inner)),
                read => inner.update(&buffer[..read]),
            }
        }
    }

    /// A name of the key, which shows whose a file is.
    pub fn name(&self) -> String {
        hex::encode(&self.tag(b"dpgp name of the key")[..8])
    }

    fn finish_hmac(&self, inner: Sha256) -> [u8; 32] {
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}

fn hash_padded_key(block: &[u8; BLOCK], pad: u8) -> Sha256 {
    Sha256::new_with_prefix(block.map(|byte| byte ^ pad))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowded(numbers: impl IntoIterator<Item = f64>) -> bool {
        let (mut spacing, mut distinct) = (NumberSpacing::default(), std::collections::BTreeSet::new());
        for number in numbers {
            spacing.insert(Some(number));
            distinct.insert(number.to_bits());
        }
        spacing.is_denser_than_chance(distinct.len() as f64)
    }

    #[test]
    fn numbers_that_stand_close() {
        assert!(crowded((0..100).map(f64::from)));
        assert!(crowded((0..100).map(|i| f64::from(i) / 10.0)));
        assert!(crowded((0..100).map(|i| f64::from(i as f32 / 10.0)))); // of 24 bits
        assert!(crowded((0..200).map(|i| 1000.0 + 2.5 * f64::from(i))));
        assert!(!crowded((0..100).map(|i| f64::from(i * i * 37 % 100_003))));
        assert!(!crowded((0..100).map(|i| f64::from(i) / 7.0)));
        assert!(!crowded([5.0, 5.0]));
        let mut mixed = NumberSpacing::default();
        (0..20).for_each(|i| mixed.insert(Some(f64::from(i))));
        assert!(mixed.is_denser_than_chance(20.0));
        mixed.insert(None);
        assert!(!mixed.is_denser_than_chance(20.0));
    }

    /// From the authors' test vectors (`vectors_sip128`), whose key and messages are the bytes 0, 1, 2, ...
    #[test]
    fn known_digests() {
        let key: Vec<u8> = (0..16).collect();
        let key = CellHashKey { words: [little_endian_u64(&key[..8]), little_endian_u64(&key[8..])] };
        for (length, digest) in [
            (0, "a3817f04ba25a8e66df67214c7550293"),
            (1, "da87c1d86b99af44347659119b22fc45"),
            (2, "8177228da4a45dc7fca38bdef60affe4"),
            (8, "3b62a9ba6258f5610f83e264f31497b4"),
            (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
        ] {
            let message: Vec<u8> = (0..length).collect();
            assert_eq!(hex::encode(key.digest(&message).to_le_bytes()), digest, "{length} bytes");
        }
    }

    /// RFC 4231, test cases 1 to 4, 6 and 7: key, message, tag.
    #[test]
    fn known_tags() {
        let counting: Vec<u8> = (1..=25).collect();
        let larger = b"This is a test using a larger than block-size key and a larger than block-size data. The key \
                       needs to be hashed before being used by the HMAC algorithm.";
        let cases: [(&[u8], &[u8], &str); 6] = [
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            (&counting, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (&[0xaa; 131], larger, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
        ];
        for (key, message, tag) in cases {
            let key = HmacKey::new(key);
            assert_eq!(hex::encode(key.tag(message)), tag);
            assert_eq!(hex::encode(key.tag_reader(message).unwrap()), tag);
            let (head, tail) = message.split_at(message.len() / 2);
            assert_eq!(hex::encode(key.tag_pieces([head, tail])), tag);
        }
    }

    #[test]
    fn a_key_does_not_show_itself() {
        assert_eq!(format!("{:?}", HmacKey::new(b"secret words")), "DataKey(secret)");
    }
}

//! The separator of a CSV file, by what its rows share.

use std::io::{BufRead, Read};
use std::path::Path;

use super::error::DataError;
use super::rows::RowText;
use super::text::{LONGEST, unread};

/// The separators that are known without being named, in the order in which they are taken where several fit: a comma may stand before decimals,
/// and a semicolon in a text.
const KNOWN: [u8; 3] = [b'\t', b';', b','];

/// The rows that are looked at, and the bytes that are enough of them.
const ROWS: usize = 100;
const BYTES: usize = 1 << 18;

/// The separator that parts all of the first rows into equally many cells, two at the least; if none does, the one that does so with the most
/// rows, then the one that the first row holds most often. What stands in quotes does not count.
pub(super) fn guess_separator(path: &Path) -> Result<u8, DataError> {
    Ok(separator_of(&counts(&first_rows(path)?)))
}

/// How often each known separator stands in a row.
type Counts = [usize; KNOWN.len()];

/// The first rows of a file as bytes; of a long row as much as a reader takes.
fn first_rows(path: &Path) -> Result<Vec<u8>, DataError> {
    let (mut from, mut bytes) = (RowText::open(path)?, Vec::new());
    for row in 0.. {
        // The header and one row at least.
        if row >= ROWS || row >= 2 && bytes.len() >= BYTES {
            break;
        }
        let read = from.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        if read.map_err(|cause| unread(path, cause))? == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// The counts of each row that is not blank; a quoted cell may hold ends of lines.
fn counts(bytes: &[u8]) -> Vec<Counts> {
    let (mut rows, mut row, mut blank, mut quoted) = (Vec::new(), Counts::default(), true, false);
    for byte in bytes {
        match (byte, KNOWN.iter().position(|known| known == byte)) {
            (b'"', _) => (quoted, blank) = (!quoted, false),
            _ if quoted => {}
            (b'\n', _) => {
                rows.extend((!blank).then_some(row));
                (row, blank) = (Counts::default(), true);
            }
            (_, Some(place)) => (row[place], blank) = (row[place] + 1, false),
            _ => blank &= byte.is_ascii_whitespace(),
        }
    }
    rows.extend((!blank && !quoted).then_some(row));
    rows
}

fn separator_of(rows: &[Counts]) -> u8 {
    let Some((header, below)) = rows.split_first() else { return b',' };
    let fits = |place: &usize| header[*place] > 0 && below.iter().all(|row| row[*place] == header[*place]);
    if let Some(place) = (0..KNOWN.len()).find(fits).filter(|_| !below.is_empty()) {
        return KNOWN[place];
    }
    // The last of equals is taken: the comma.
    let best = (0..KNOWN.len()).max_by_key(|place| (sharing(rows, *place), header[*place]));
    best.map_or(b',', |place| KNOWN[place])
}

/// The most rows that hold a separator equally often.
fn sharing(rows: &[Counts], place: usize) -> usize {
    let mut held: Vec<usize> = rows.iter().map(|row| row[place]).filter(|count| *count > 0).collect();
    held.sort_unstable();
    held.chunk_by(|one, other| one == other).map(<[usize]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_what_all_rows_share() {
        for (text, separator) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1;2\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            // Commas in the names, in one row, and before decimals in all.
            ("Age, years;Height, cm\n24;155\n25;156\n", b';'),
            ("Age, y, z;Height\n24;155,1\n25;156\n", b';'),
            ("a,b;c,d\n1,5;2,5\n3,5;4,5\n", b';'),
            ("24,92;155,1\n25,1;156,2\n", b';'),
            ("Age, years\tHeight, cm\n24,9\t155,1\n", b'\t'),
            // Semicolons in the names, and in cells.
            ("x;y;z,b\n1,2\n", b','),
            ("a,words\n1,x;y\n2,z\n", b','),
            // What stands in quotes parts nothing.
            ("\"a;b;c\",d\n\"1;2\n;;\",5\n", b','),
            ("\"Age, in years, whole\";h\n1;2\n", b';'),
            // A title, a total, and rows of another length.
            ("made by hand, in 2020, at home\na;b\n1;2\n3;4\n", b';'),
            ("a;b\n1;2\n3;4\nTotal, of all\n", b';'),
            ("a,b\r\n1,2\r\n\r\n3,4\r\n", b','),
            ("a;b;c,d\n", b';'),
            ("a|b\n1|2\n", b','),
            ("", b','),
        ] {
            assert_eq!(separator_of(&counts(text.as_bytes())) as char, separator as char, "{text:?}");
        }
    }
}

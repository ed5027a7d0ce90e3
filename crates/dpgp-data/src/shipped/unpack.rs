//! Unpacks the compressed piece of the program into files.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::ZlibDecoder;

/// The files that were packed, by their paths; none if the piece is damaged.
pub(super) fn unpack(packed: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut all = String::new();
    ZlibDecoder::new(packed).read_to_string(&mut all).ok()?;
    let (mut rest, mut files) = (all.as_str(), BTreeMap::new());
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n')?;
        let (path, bytes) = line.rsplit_once('\t')?;
        let (text, others) = after.split_at_checked(bytes.parse().ok()?)?;
        files.insert(path.to_owned(), text.to_owned());
        rest = others;
    }
    Some(files)
}

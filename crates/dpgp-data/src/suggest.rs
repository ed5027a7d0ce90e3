//! "Did you mean ...?" for misspelt names.

/// The candidate closest to `name`, if one is close enough to be what was meant:
/// at most a third of the letters differ, or one name is the start or the end of the other.
#[must_use]
pub fn closest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        // The difference of lengths is the least distance: a name of a damaged file may be as long as the file.
        .filter(|candidate| {
            let lowered = candidate.to_lowercase();
            let edits = lowered.chars().count().abs_diff(wanted.chars().count());
            is_close_enough(edits, &wanted, &lowered)
        })
        .map(|candidate| (levenshtein_distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(edits, candidate)| is_close_enough(*edits, &wanted, &candidate.to_lowercase()))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn is_close_enough(edits: usize, wanted: &str, candidate: &str) -> bool {
    let letters = wanted.chars().count().max(candidate.chars().count());
    let shorter = wanted.len().min(candidate.len());
    let is_start = candidate.starts_with(wanted) || wanted.starts_with(candidate);
    let is_end = candidate.ends_with(wanted) || wanted.ends_with(candidate);
    edits * 3 <= letters || shorter >= 3 && is_start || shorter >= 4 && is_end
}

/// Levenshtein distance: the fewest insertions, deletions and substitutions from `a` to `b`.
fn levenshtein_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_distances() {
        assert_eq!(levenshtein_distance("kitten", "sitting"), 3);
        assert_eq!(levenshtein_distance("", "abc"), 3);
        assert_eq!(levenshtein_distance("abc", "abc"), 0);
    }

    #[test]
    fn suggestions() {
        let names = ["howell1", "hmeq", "abalone"];
        assert_eq!(closest_name("howel1", names), Some("howell1"));
        assert_eq!(closest_name("Abalone", names), Some("abalone"));
        assert_eq!(closest_name("howell", names), Some("howell1"));
        assert_eq!(closest_name("zebra", names), None);
        let columns = ["start_latitude", "start_longitude"];
        assert_eq!(closest_name("longitude", columns), Some("start_longitude"));
        assert_eq!(closest_name("ude", columns), None);
    }
}

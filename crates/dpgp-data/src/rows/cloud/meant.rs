//! Selects the objects that match a pattern.

use std::path::Path;

use glob::Pattern;

use super::super::files::{is_ignored_name, is_row_file_name};

/// Whether the name of an object, part by part, is one that patterns mean: each stands for one part, `**` for any number of
/// folders. What comes after the last pattern is in a folder that matched: all rows in it and below are meant, as on a disk.
pub fn is_pattern_match(patterns: &[Pattern], parts: &[&str]) -> bool {
    let Some((first, rest)) = patterns.split_first() else {
        return parts.is_empty() || is_row_file_path(parts);
    };
    if first.as_str() == "**" {
        // The last part is no folder.
        let folders =
            parts.iter().take(parts.len().saturating_sub(1)).take_while(|part| !is_ignored_name(part)).count();
        return (0..=folders).any(|skipped| is_pattern_match(rest, &parts[skipped..]));
    }
    let Some((part, others)) = parts.split_first() else { return false };
    let is_named = !is_ignored_name(part) || first.as_str().chars().next() == part.chars().next();
    is_named && first.matches(part) && is_pattern_match(rest, others)
}

/// Whether these are the parts of a file of rows in a folder or below.
fn is_row_file_path(parts: &[&str]) -> bool {
    let last = parts.last().copied().unwrap_or_default();
    is_row_file_name(Path::new(last)) && !parts.iter().any(|part| is_ignored_name(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As files of the same names on a disk.
    #[test]
    fn patterns_mean_objects() {
        for (pattern, name, meant) in [
            ("", "a.csv", true),
            ("", "deep/er/a.csv.gz", true),
            ("", "notes.txt", false),
            ("", "_temporary/a.csv", false),
            ("n*", "notes.txt", true),
            ("month=*/*.parquet", "month=06/a.parquet", true),
            ("month=*/*.parquet", "month=06/deep/a.parquet", false),
            ("month=*", "month=06/deep/a.parquet", true),
            ("month=*", "month=06/deep/_a.parquet", false),
            ("**", "month=06/a.csv", true),
            ("**", "a.csv", true),
            ("**/*.csv", "a.csv", true),
            ("**/*.csv", "x/y/a.csv", true),
            ("**/*.csv", "x/_y/a.csv", false),
            ("_*/*.csv", "_x/a.csv", true),
            ("[!b].*", "a.csv", true),
            ("*/*.csv", "a.csv", false),
        ] {
            let patterns: Vec<Pattern> =
                pattern.split('/').filter(|part| !part.is_empty()).map(|part| Pattern::new(part).unwrap()).collect();
            let parts: Vec<&str> = name.split('/').collect();
            assert_eq!(is_pattern_match(&patterns, &parts), meant, "{pattern} {name}");
        }
    }
}

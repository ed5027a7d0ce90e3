//! Turns a spec that reproduces a paper into one for the user's own changes.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Tables that say what others found, or what is said of it: they are not of an experiment with other settings. What breaks privacy,
/// and what is wrong with a statement, is true of a copy too.
const OF_THE_PAPER: [&str; 5] = ["published", "authors", "reference", "claim", "deviation"];

/// Keys of `experiment` that name a paper.
const NAMES: [&str; 2] = ["paper", "artefact"];

/// The text of a spec without the numbers and claims of a paper, and without its name; settings and comments stay as they
/// are. None for a text that is no TOML.
///
/// ```
/// use dpgp_spec::strip_paper_content;
///
/// let spec = "[experiment]\ntitle = \"t\" # a line\npaper = \"p2020\"\n\n[[claim]]\ntext = \"x\"\n\n[data]\ninputs = [\n  \"[claim]\",\n]\n";
/// let own = "[experiment]\ntitle = \"t\" # a line\n\n[data]\ninputs = [\n  \"[claim]\",\n]\n";
/// assert_eq!(strip_paper_content(spec).as_deref(), Some(own));
/// assert_eq!(strip_paper_content("= 1"), None);
/// ```
pub fn strip_paper_content(text: &str) -> Option<String> {
    let mut values = Vec::new();
    collect_value_spans(DeTable::parse(text).ok()?.get_ref(), &mut values);
    let mut own = String::with_capacity(text.len());
    let (mut at, mut section, mut dropped) = (0, String::new(), false);
    // Comments that stand right above a table are about it.
    let mut above = String::new();
    for line in text.split_inclusive('\n') {
        let inside = values.iter().any(|value| value.start < at && at < value.end);
        at += line.len();
        if !inside && line.starts_with('[') {
            section = line.trim_start_matches('[').split(['.', ']']).next().unwrap_or_default().trim().to_owned();
            dropped = OF_THE_PAPER.contains(&section.as_str());
        }
        if !inside && line.starts_with('#') {
            above.push_str(line);
            continue;
        }
        let comment = std::mem::take(&mut above);
        if !dropped {
            own.push_str(&comment);
        }
        if !(dropped || !inside && names_a_paper(line, &section)) {
            own.push_str(line);
        }
    }
    own.push_str(&above);
    Some(own.trim_end().to_owned() + "\n")
}

/// Whether a line names the paper of an experiment: in its section, or before all sections by its whole path.
fn names_a_paper(line: &str, section: &str) -> bool {
    let Some((key, _)) = line.split_once('=') else { return false };
    let path = if section.is_empty() { key.trim().strip_prefix("experiment.") } else { Some(key.trim()) };
    let is_of_experiment = section.is_empty() || section == "experiment";
    is_of_experiment && path.is_some_and(|key| NAMES.contains(&key))
}

/// Where values stand that are no tables with a header: what looks like a header in one of them is none.
fn collect_value_spans(table: &DeTable<'_>, values: &mut Vec<Range<usize>>) {
    table.values().for_each(|value| collect_spans_below(value, values));
}

fn collect_spans_below(value: &Spanned<DeValue<'_>>, values: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        DeValue::Table(table) => collect_value_spans(table, values),
        // An array of tables with headers has the span of a header, or of all of them; its elements are walked instead.
        DeValue::Array(array) if array.iter().all(|element| element.get_ref().is_table()) => {
            array.iter().for_each(|element| collect_spans_below(element, values));
        }
        _ => values.push(value.span()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_with_the_table_below_them() {
        let text = "# The spec.\n[experiment]\ntitle = \"t\"\n\n# What the paper says.\n[published.rmse]\na = 1\n\n# The rows.\n[data]\nx = 1\n# The end.\n";
        let own = "# The spec.\n[experiment]\ntitle = \"t\"\n\n# The rows.\n[data]\nx = 1\n# The end.\n";
        assert_eq!(strip_paper_content(text).unwrap(), own);
    }

    #[test]
    fn a_paper_is_named_by_a_whole_path_too() {
        let text = "experiment.title = \"t\"\nexperiment.paper = \"p\"\n\n[data]\npaper = 1\n";
        assert_eq!(strip_paper_content(text).unwrap(), "experiment.title = \"t\"\n\n[data]\npaper = 1\n");
    }
}

//! One row of the first table of `REPRODUCTION.md`: a table or figure of a paper, how far ours is from print, and a verdict in a word.

use serde::Serialize;

use super::committed::ExperimentResults;
use super::counts::FindingVerdict;
use super::told::{FindingRow, median};

/// A table or figure of a paper, with the experiments that compute it.
#[derive(Debug, Clone, Serialize)]
pub struct PaperArtefact {
    /// Its name in the paper.
    pub name: String,
    /// The first experiment that computes it.
    pub experiment: String,
    /// Whether this experiment draws a figure.
    pub figure: bool,
    /// How many of its printed numbers are entered, without spreads.
    pub numbers: usize,
    /// The least, median and largest ratio of our number to the printed one, to two decimals, zeros left out.
    pub ratios: Option<[String; 3]>,
    /// The verdict on its statements and numbers, in a word or two.
    pub verdict: String,
}

impl PaperArtefact {
    /// Lists the artefacts of a paper that the rows of its page are about, in the order of these rows.
    pub fn list_artefacts(examined: &[ExperimentResults<'_>], rows: &[FindingRow]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for row in rows {
            let one = examined.iter().find(|one| one.experiment.name == row.experiment);
            let name = one.and_then(|one| one.experiment.meta.artefact.as_deref());
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names.into_iter().filter_map(|name| Self::from_name(name, examined, rows)).collect()
    }

    fn from_name(name: &str, examined: &[ExperimentResults<'_>], rows: &[FindingRow]) -> Option<Self> {
        let own = examined.iter().filter(|one| one.experiment.meta.artefact.as_deref() == Some(name));
        let own: Vec<&ExperimentResults<'_>> = own.collect();
        let is_own = |row: &&FindingRow| own.iter().any(|one| one.experiment.name == row.experiment);
        let rows: Vec<&FindingRow> = rows.iter().filter(is_own).collect();
        let first = rows.first()?.experiment.clone();
        let drawn = own.iter().find(|one| one.experiment.name == first)?.experiment.figure.as_ref();
        let committed: Vec<_> = own.iter().filter_map(|one| one.committed.as_ref()).collect();
        let printed = committed.iter().flat_map(|committed| {
            let own = committed.rows.iter().filter(|row| !committed.field(row, "published").is_empty());
            own.map(|row| committed.field(row, "ratio_to_print").parse::<f64>().ok())
        });
        let printed: Vec<Option<f64>> = printed.collect();
        let mut ratios: Vec<f64> = printed.iter().copied().flatten().collect();
        ratios.sort_by(f64::total_cmp);
        let ratios = match ratios[..] {
            [] => None,
            [only] => Some([only; 3]),
            [least, .., most] => Some([least, median(&ratios), most]),
        }
        .map(|ratios| ratios.map(|ratio| format!("{ratio:.2}")));
        let verdict = summarise_verdicts(&rows.iter().map(|row| &row.verdict).collect::<Vec<_>>());
        Some(Self {
            name: name.to_owned(),
            experiment: first,
            figure: drawn.is_some(),
            numbers: printed.len(),
            ratios,
            verdict,
        })
    }
}

/// The verdict on several places: the one of all of them, else how many are the same.
fn summarise_verdicts(verdicts: &[&FindingVerdict]) -> String {
    let word = |verdict: &FindingVerdict| match verdict {
        FindingVerdict::Same => "same",
        FindingVerdict::SameWithSettings => "same, chosen",
        FindingVerdict::Different(_) | FindingVerdict::Unknown(_) => "different",
        FindingVerdict::Untold(_) => "cannot tell",
    };
    let words: Vec<&str> = verdicts.iter().map(|verdict| word(verdict)).collect();
    match words.first() {
        Some(first) if words.iter().all(|word| word == first) => (*first).to_owned(),
        _ => {
            let same = words.iter().filter(|word| word.starts_with("same")).count();
            let chosen = match words.iter().filter(|word| **word == "same, chosen").count() {
                0 => String::new(),
                chosen => format!(", {chosen} chosen"),
            };
            format!("{same}/{} same{chosen}", words.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_for_several_places() {
        let (same, chosen) = (FindingVerdict::Same, FindingVerdict::SameWithSettings);
        let (different, open) = (FindingVerdict::Different("x".to_owned()), FindingVerdict::Untold("y".to_owned()));
        assert_eq!(summarise_verdicts(&[&same, &same]), "same");
        assert_eq!(summarise_verdicts(&[&chosen]), "same, chosen");
        assert_eq!(summarise_verdicts(&[&same, &chosen, &different]), "2/3 same, 1 chosen");
        assert_eq!(summarise_verdicts(&[&same, &open]), "1/2 same");
        assert_eq!(summarise_verdicts(&[&open]), "cannot tell");
    }
}

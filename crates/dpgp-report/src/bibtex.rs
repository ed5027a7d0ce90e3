//! BibTeX entries for the program, papers and data, and the one-line caption of a figure or table.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::report::{Report, ReportRow};
use dpgp_data::Dataset;
use dpgp_number::text::format_exact;
use dpgp_spec::setting::SourceSetting;
use dpgp_spec::{DeviationKind, PaperCoverage, PublishedIn};

/// An entry of BibTeX.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BibliographyEntry {
    /// `article`, `misc` or `software`.
    pub kind: &'static str,
    /// The key to cite it by.
    pub key: String,
    /// The fields, in the order in which they are written.
    pub fields: Vec<(&'static str, String)>,
}

impl BibliographyEntry {
    /// This program, as `CITATION.cff` describes it.
    pub fn for_program() -> Self {
        let fields = vec![
            (
                "title",
                "dpgp: reproduce, certify and extend works on differentially private Gaussian processes".to_owned(),
            ),
            ("author", "{The dpgp authors}".to_owned()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("license", env!("CARGO_PKG_LICENSE").to_owned()),
        ];
        Self { kind: "software", key: "dpgp".to_owned(), fields }
    }

    /// A paper, from the file beside its experiments.
    pub fn paper(paper: &PaperCoverage) -> Self {
        let title = paper.title.as_ref().unwrap_or(&paper.reference);
        let mut fields = vec![("title", format!("{{{}}}", escape_tex(title)))];
        if !paper.authors.is_empty() {
            let authors: Vec<String> = paper.authors.iter().map(|author| escape_tex(author)).collect();
            fields.push(("author", authors.join(" and ")));
        }
        fields.extend(paper.year.map(|year| ("year", year.to_string())));
        let PublishedIn { journal, volume, number, pages, doi, arxiv, url } = &paper.published;
        fields.extend(journal.as_ref().map(|journal| ("journal", escape_tex(journal))));
        fields.extend(volume.map(|volume| ("volume", volume.to_string())));
        fields.extend(number.map(|number| ("number", number.to_string())));
        fields.extend(pages.as_ref().map(|pages| ("pages", pages.clone())));
        fields.extend(doi.as_ref().map(|doi| ("doi", doi.clone())));
        if let Some(arxiv) = arxiv {
            fields.extend([("eprint", arxiv.clone()), ("archiveprefix", "arXiv".to_owned())]);
        }
        fields.extend(url.as_ref().map(|url| ("url", url.clone())));
        fields.extend(paper.note.as_ref().map(|note| ("note", escape_tex(note))));
        let kind = if journal.is_some() { "article" } else { "misc" };
        Self { kind, key: to_bibtex_key(&paper.paper), fields }
    }

    /// A dataset, from its entry in the manifest. The manifest gives the citation as one sentence, so it becomes a
    /// note.
    pub fn dataset(dataset: &Dataset) -> Self {
        let fields = vec![
            ("title", format!("{{{}}}", escape_tex(&dataset.title))),
            ("howpublished", escape_tex(&dataset.source)),
            ("note", format!("{} Licence: {}", escape_tex(&dataset.citation), escape_tex(&dataset.licence))),
        ];
        Self { kind: "misc", key: format!("data-{}", to_bibtex_key(&dataset.name)), fields }
    }

    /// The entry as text.
    ///
    /// ```
    /// let text = dpgp_report::BibliographyEntry::for_program().text();
    /// assert!(text.starts_with("@software{dpgp,\n") && text.ends_with("}\n"));
    /// ```
    pub fn text(&self) -> String {
        let mut text = format!("@{}{{{},\n", self.kind, self.key);
        for (name, value) in &self.fields {
            let _ = writeln!(text, "  {name} = {{{value}}},");
        }
        text + "}\n"
    }
}

/// A text without characters that BibTeX or TeX interprets.
fn escape_tex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' => escaped.extend(['\\', c]),
            '{' | '}' | '\\' => escaped.push(' '),
            '~' => escaped.push_str("\\textasciitilde "),
            '^' => escaped.push_str("\\textasciicircum "),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Replaces every character but ASCII letters and digits by a hyphen.
fn to_bibtex_key(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The most numbers listed; of more, only the least and the largest appear.
const NAMED: usize = 6;

/// The caption of a report.
pub fn report_caption(report: &Report<'_>) -> String {
    let meta = &report.experiment.meta;
    let replicates = match meta.replicates {
        1 => "1 replicate".to_owned(),
        several => format!("{several} replicates"),
    };
    let parts = [
        meta.rows.as_ref().map(|rows| format!("n: {rows}")),
        Some(replicates),
        privacy_sentence(report),
        data_sentence(report).map(|data| format!("data: {data}")),
    ];
    format!("{}.", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// The guarantees of all rows; what a program claims of itself is marked, and one without a claim has nothing to tell.
fn privacy_sentence(report: &Report<'_>) -> Option<String> {
    let is_ours = report.experiment.cells.iter().any(|cell| cell.setting().task.reads_rows());
    let claimed = |row: &ReportRow| row.row.certificate.unchecked.as_ref().map(|claim| claim.guarantee);
    let [epsilons, deltas] = if is_ours {
        let epsilons = format_distinct_values(report, |row| Some(row.row.certificate.epsilon()));
        [epsilons, format_distinct_values(report, |row| row.row.certificate.delta())]
    } else {
        let delta = format_distinct_values(report, |row| claimed(row).map(|guarantee| guarantee.delta));
        let epsilons = format_distinct_values(report, |row| claimed(row).map(|guarantee| guarantee.epsilon));
        [epsilons, delta.map(|delta| format!("{delta} (claimed by programs, unchecked)"))]
    };
    let deltas = deltas.map_or_else(String::new, |deltas| format!("; delta: {deltas}"));
    epsilons.map(|epsilons| format!("epsilon: {epsilons}{deltas}"))
}

/// Lists the distinct numbers of all rows in increasing order, or the range of more than [`NAMED`]; none without numbers.
fn format_distinct_values(report: &Report<'_>, of: impl Fn(&ReportRow) -> Option<f64>) -> Option<String> {
    let mut all: Vec<f64> = report.rows.iter().filter_map(of).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    match all[..] {
        [] => None,
        [least, .., most] if all.len() > NAMED => {
            Some(format!("{} to {}", format_epsilon(least), format_epsilon(most)))
        }
        _ => Some(all.iter().map(|one| format_epsilon(*one)).collect::<Vec<_>>().join(", ")),
    }
}

fn format_epsilon(number: f64) -> String {
    if number == f64::INFINITY { "none (no privacy)".to_owned() } else { format_exact(number) }
}

/// The data of all cells, and whether they are the paper's.
fn data_sentence(report: &Report<'_>) -> Option<String> {
    let experiment = report.experiment;
    let mut names: Vec<String> = Vec::new();
    for cell in &experiment.cells {
        let setting = cell.setting();
        // Tasks that read no rows have an empty inline source.
        let is_told = setting.task.reads_rows() || !matches!(setting.data.source, SourceSetting::Inline(_));
        let name = source_name(&setting.data.source);
        if is_told && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let stand_in = experiment.deviations.iter().any(|deviation| deviation.kind == DeviationKind::StandIn);
    let of_paper = if stand_in { ", a stand-in for the paper's" } else { "" };
    Some(format!("{}{of_paper}", names.join(", ")))
}

fn source_name(source: &SourceSetting) -> String {
    match source {
        SourceSetting::Dataset(name) => name.clone(),
        SourceSetting::Images(images) => images.dataset.clone(),
        SourceSetting::Trips(trips) => trips.dataset.clone(),
        SourceSetting::Csv { .. } | SourceSetting::Parquet { .. } => "the user's own rows".to_owned(),
        SourceSetting::Inline(_) => "points in the spec".to_owned(),
        SourceSetting::Synthetic(_) => "simulated anew in each replicate".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_closes_its_field() {
        assert_eq!(escape_tex("a_b & 50 % {x} \\end\n"), "a\\_b \\& 50 \\%  x   end ");
        assert_eq!(to_bibtex_key("a b,c}"), "a-b-c-");
    }
}

#[cfg(test)]
mod caption_tests {
    use super::*;
    use crate::figure::fabricated;

    #[test]
    fn all_that_a_figure_is_of_stands_in_one_line() {
        let mut experiment = fabricated::experiment(&["a", "b"], "");
        experiment.meta.rows = Some("4 points".to_owned());
        let rows = vec![fabricated::row(0, "rmse", 1.0, None)];
        let said = report_caption(&Report::new(&experiment, rows, Vec::new()));
        assert_eq!(said, "n: 4 points; 1 replicate; epsilon: none (no privacy); data: points in the spec.");
    }
}

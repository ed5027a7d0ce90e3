//! Entries of a bibliography: the program, papers and data.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use dpgp_data::Dataset;
use dpgp_spec::Coverage;

/// An entry of BibTeX.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BibliographyEntry {
    /// `misc` or `software`.
    pub kind: &'static str,
    /// The key to cite it by.
    pub key: String,
    /// The fields, in the order in which they are written.
    pub fields: Vec<(&'static str, String)>,
}

impl BibliographyEntry {
    /// This program, as `CITATION.cff` has it.
    pub fn program() -> Self {
        let fields = vec![
            (
                "title",
                "dpgp: reproduce, certify and extend works on differentially private Gaussian processes"
                    .to_owned(),
            ),
            ("author", "{The dpgp authors}".to_owned()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("license", env!("CARGO_PKG_LICENSE").to_owned()),
        ];
        Self { kind: "software", key: "dpgp".to_owned(), fields }
    }

    /// A paper, by what is said of it beside its experiments.
    pub fn paper(paper: &Coverage) -> Self {
        let title = paper.title.as_ref().unwrap_or(&paper.reference);
        let mut fields = vec![("title", format!("{{{}}}", escaped(title)))];
        if !paper.authors.is_empty() {
            let authors: Vec<String> = paper.authors.iter().map(|author| escaped(author)).collect();
            fields.push(("author", authors.join(" and ")));
        }
        fields.extend(paper.year.map(|year| ("year", year.to_string())));
        fields.extend(paper.note.as_ref().map(|note| ("note", escaped(note))));
        Self { kind: "misc", key: escaped_key(&paper.paper), fields }
    }

    /// A dataset, by its entry in the manifest. Whom to cite is told as a note: the manifest has it in one sentence.
    pub fn dataset(dataset: &Dataset) -> Self {
        let fields = vec![
            ("title", format!("{{{}}}", escaped(&dataset.title))),
            ("howpublished", escaped(&dataset.source)),
            ("note", format!("{} Licence: {}", escaped(&dataset.citation), escaped(&dataset.licence))),
        ];
        Self { kind: "misc", key: format!("data-{}", escaped_key(&dataset.name)), fields }
    }

    /// The entry as text.
    ///
    /// ```
    /// let text = dpgp_report::BibliographyEntry::program().text();
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

/// A text without what BibTeX or TeX takes for its own.
fn escaped(text: &str) -> String {
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

/// A key has only letters, digits and hyphens.
fn escaped_key(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_closes_its_field() {
        assert_eq!(escaped("a_b & 50 % {x} \\end\n"), "a\\_b \\& 50 \\%  x   end ");
        assert_eq!(escaped_key("a b,c}"), "a-b-c-");
    }
}

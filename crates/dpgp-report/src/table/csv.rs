//! `table.csv` (one row per cell and metric) and `claims.csv` (every claim with its outcome). Also the lines of a table for people, with
//! references to the guarantees.

use super::claims::ClaimOutcome;
use super::markdown::GuaranteeNotes;
use super::terminal::{HEADINGS, cells};
use super::verdict::{NumberVerdict, ReferenceComparison};
use crate::report::{Report, ReportRow};
use dpgp_data::escape_csv_formula;
use dpgp_number::text::format_exact;
use dpgp_spec::FIXED_COLUMNS;
use dpgp_task::Cell;

/// Columns before the axes.
const BEFORE_AXES: usize = 2;

/// The table as CSV text.
///
/// # Errors
/// The CSV writer's error; none is expected when writing to memory.
pub fn table_csv(report: &Report<'_>) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let axes = report.axis_columns(&FIXED_COLUMNS);
    let names = axes.iter().map(|(_, name)| escape_csv_formula(name).into_owned());
    let (before, after) = FIXED_COLUMNS.split_at(BEFORE_AXES);
    writer.write_record(to_owned_names(before).chain(names).chain(to_owned_names(after)))?;
    for row in &report.rows {
        let labels = axes.iter().map(|(axis, _)| escape_csv_formula(&row.labels[*axis]).into_owned());
        let identity = [escape_csv_formula(&report.experiment.name).into_owned(), row.cell_id.clone()];
        writer.write_record(identity.into_iter().chain(labels).chain(values(row)))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn to_owned_names(names: &[&str]) -> impl Iterator<Item = String> {
    names.iter().map(|name| (*name).to_owned())
}

fn values(row: &ReportRow) -> [String; 24] {
    let certificate = &row.row.certificate;
    let [published, authors, reference] = [&row.published, &row.authors, &row.reference].map(Option::as_ref);
    // The interval is that of the number that counts most.
    let interval = row.reference_comparisons().next().and_then(|judged| judged.predictive.as_ref());
    let p_value = published.and_then(ReferenceComparison::p_value);
    [
        escape_csv_formula(&row.row.metric).into_owned(),
        format_optional(row.row.undefined.is_none().then_some(row.row.value)),
        format_optional(row.row.spread),
        row.row.spread_kind.name().to_owned(),
        row.row.repeats.to_string(),
        format_optional(counterpart_value(published)),
        format_optional(counterpart_spread(published)),
        verdict(published),
        escape_csv_formula(&certificate.to_string()).into_owned(),
        format_exact(certificate.epsilon()),
        format_optional(certificate.delta()),
        format_optional(certificate.delta_exact),
        format_optional(certificate.gap),
        format_optional(interval.map(|interval| interval.low)),
        format_optional(interval.map(|interval| interval.high)),
        format_optional(p_value),
        published.map_or(NumberVerdict::None, |judged| judged.spread_verdict).name().to_owned(),
        format_optional(counterpart_value(authors)),
        verdict(authors),
        format_optional(counterpart_value(reference)),
        format_optional(counterpart_spread(reference)),
        verdict(reference),
        format_optional(published.and_then(|judged| judged.ratio(row.row.value))),
        format_optional(published.and_then(ReferenceComparison::z_score_of_ours)),
    ]
}

fn counterpart_value(judged: Option<&ReferenceComparison>) -> Option<f64> {
    judged.map(|judged| judged.counterpart.value)
}

fn counterpart_spread(judged: Option<&ReferenceComparison>) -> Option<f64> {
    judged.and_then(|judged| judged.counterpart.spread)
}

fn verdict(judged: Option<&ReferenceComparison>) -> String {
    judged.map_or(NumberVerdict::None, |judged| judged.verdict).name().to_owned()
}

fn format_optional(x: Option<f64>) -> String {
    x.map(format_exact).unwrap_or_default()
}

/// The claims of an experiment as CSV text, a row each: whose statement it is, where the paper says it, its sentence, the statement in
/// words, the outcome, the pair of numbers that decides with the standard error of their difference, and the cell of the first.
///
/// # Errors
/// The CSV writer's error; none is expected when writing to memory.
pub fn claims_csv(claims: &[ClaimOutcome]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for claim in claims {
        writer.serialize(escape_claim_texts(claim))?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The texts as cells of CSV.
fn escape_claim_texts(claim: &ClaimOutcome) -> ClaimOutcome {
    let [place, quote, text, at] =
        [&claim.place, &claim.quote, &claim.text, &claim.at].map(|text| escape_csv_formula(text).into_owned());
    ClaimOutcome { place, quote, text, at, ..claim.clone() }
}

/// Reads them back, as cells.
///
/// # Errors
/// The CSV reader's error if the text is not such a table.
pub fn read_claims(text: &str) -> Result<Vec<ClaimOutcome>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}

/// Headings and cells, and the guarantees that the cells refer to.
pub(super) struct TableLines {
    pub headings: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub notes: GuaranteeNotes,
}

impl TableLines {
    /// Takes the first rows of a report, without columns that are empty in all of them.
    pub fn new(report: &Report<'_>, most: usize) -> Self {
        let axes = report.axis_columns(&HEADINGS);
        let names = axes.iter().map(|(_, name)| *name);
        let headings = names.chain(HEADINGS).chain(["guarantee"]).map(str::to_owned).collect();
        let mut lines = Self { headings, rows: Vec::new(), notes: GuaranteeNotes::default() };
        for row in report.rows.iter().take(most) {
            lines.add(row, &axes);
        }
        // A study of programs that claim nothing is not about privacy.
        let is_private = |cell: &Cell| cell.setting().task.reads_rows();
        if !report.experiment.cells.iter().any(is_private) {
            lines.drop_columns(|heading, cells| {
                ["epsilon", "guarantee"].contains(&heading) && cells.iter().all(|cell| ["inf", "none"].contains(cell))
            });
        }
        lines.drop_columns(|_, cells| !cells.is_empty() && cells.iter().all(|cell| cell.is_empty()));
        lines
    }

    fn add(&mut self, row: &ReportRow, axes: &[(usize, &str)]) {
        let labels = axes.iter().map(|(axis, _)| row.labels[*axis].clone());
        let guarantee = self.notes.footnote_reference(&row.row.certificate.to_string());
        self.rows.push(labels.chain(cells(row)).chain([guarantee]).collect());
    }

    /// Removes the columns of which heading and cells are as said.
    fn drop_columns(&mut self, is_needless: impl Fn(&str, &[&str]) -> bool) {
        for column in (0..self.headings.len()).rev() {
            let cells: Vec<&str> = self.rows.iter().map(|row| row[column].as_str()).collect();
            if is_needless(&self.headings[column], &cells) {
                self.headings.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::claims::ClaimOutcomeKind;
    use dpgp_spec::ClaimOwner;

    #[test]
    fn claims_are_read_back_as_they_were() {
        let claim = ClaimOutcome {
            from: ClaimOwner::Paper,
            place: "Section 4, Table 1".to_owned(),
            quote: "a \"sentence\", with commas".to_owned(),
            text: "a is below b".to_owned(),
            outcome: ClaimOutcomeKind::Undecided,
            left: Some(0.1 + 0.2),
            right: Some(1e-300),
            error: None,
            at: "epsilon = 1".to_owned(),
        };
        let text = claims_csv(std::slice::from_ref(&claim)).unwrap();
        assert!(text.starts_with("from,place,quote,text,outcome,left,right,error,at\n"));
        assert_eq!(read_claims(&text).unwrap(), [claim]);
    }
}

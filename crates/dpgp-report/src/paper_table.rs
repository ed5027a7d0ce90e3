//! A spec of the numbers that a paper prints, without a task, from a table that they were copied into.

use csv::StringRecord;
use thiserror::Error;

use dpgp_data::suggest::closest_name;
use dpgp_number::text::format_exact;

/// Columns of a printed table that are no axes.
const ABOUT_NUMBERS: [&str; 9] =
    ["metric", "value", "spread", "count", "runs", "precision", "tolerance", "effect", "source"];

/// What stands in a printed table where there is no number.
const NO_NUMBER: [&str; 7] = ["", "-", "–", "—", "NA", "N/A", "n/a"];

/// Why a table does not make a spec.
#[derive(Debug, Error)]
pub enum PaperTableError {
    /// Not CSV.
    #[error("is not CSV: {0}")]
    Csv(#[from] csv::Error),
    /// Its numbers are not named.
    #[error(
        "its columns are {}; use --metrics to name those that hold the published numbers, or give the table the columns \
         `metric` and `value`",
        columns.join(", ")
    )]
    NoMetrics {
        /// Its columns.
        columns: Vec<String>,
    },
    /// A named column is missing.
    #[error("has no column {name:?}{}", hint.as_ref().map_or(String::new(), |near| format!("; did you mean {near:?}?")))]
    NoColumn {
        /// The name.
        name: String,
        /// The most similar column.
        hint: Option<String>,
    },
    /// A number that is none.
    #[error("line {line}: {column} is {found:?}, not a number in a printed form such as 0.71, 97.5 % or 0.71 ± 0.02")]
    NoNumber {
        /// Its line.
        line: u64,
        /// Its column.
        column: String,
        /// The text found there.
        found: String,
    },
    /// No numbers at all.
    #[error("has no published number")]
    Empty,
}

/// A number as a paper prints it, with the unit of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PaperNumber {
    value: f64,
    precision: f64,
    spread: Option<f64>,
}

impl PaperNumber {
    /// Reads `0.71`, `97.5 %`, `0.71 ± 0.02`, `0.71 +/- 0.02` or `0.71 (0.02)`, with the stars of footnotes.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(['*', '%']);
        let text = text.replace('−', "-").replace("+/-", "±").replace("\\pm", "±");
        let (value, spread) = match text.split_once(['±', '(']).or_else(|| text.split_once("+-")) {
            None => (text.as_str(), None),
            Some((value, spread)) => (value, Some(spread.trim_start_matches('-').trim_end_matches(')'))),
        };
        let value = value.trim().trim_end_matches('%').trim_end();
        let spread = match spread {
            None => None,
            Some(spread) => Some(spread.trim().trim_end_matches('%').trim_end().parse().ok()?),
        };
        let number: f64 = value.parse().ok()?;
        Some(Self { value: number, precision: last_digit_unit(value)?, spread }).filter(|_| number.is_finite())
    }
}

/// The unit of the last digit of a number.
fn last_digit_unit(number: &str) -> Option<f64> {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let power = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(decimals).ok()?)?;
    // Parsed, since powers of ten are not exact.
    format!("1e{power}").parse().ok()
}

/// Writes the spec of a printed table. Its axes are the columns that hold neither metrics nor facts about numbers.
///
/// # Errors
/// [`PaperTableError`].
pub fn spec_from_paper_table(
    table: &str,
    metrics: &[String],
    name: &str,
    spec: &str,
) -> Result<String, PaperTableError> {
    let table = table.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new().delimiter(separator(table)).from_reader(table.as_bytes());
    let headings: Vec<String> = reader.headers()?.iter().map(|heading| heading.trim().to_owned()).collect();
    let at = |name: &str| headings.iter().position(|heading| heading == name);
    if let Some(unknown) = metrics.iter().find(|metric| at(metric).is_none()) {
        let hint = closest_name(unknown, headings.iter().map(String::as_str)).map(str::to_owned);
        return Err(PaperTableError::NoColumn { name: unknown.clone(), hint });
    }
    let long = at("metric").zip(at("value")).filter(|_| metrics.is_empty());
    if long.is_none() && metrics.is_empty() {
        return Err(PaperTableError::NoMetrics { columns: headings });
    }
    let is_kept = |heading: &&String| match long {
        // A precision is read off the number.
        Some(_) => !["metric", "value", "precision"].contains(&heading.as_str()),
        None => !metrics.contains(heading),
    };
    let kept: Vec<&String> = headings.iter().filter(is_kept).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let numbers: Vec<(&str, &str)> = match long {
            Some((metric, value)) => vec![(field(&record, metric), headings[value].as_str())],
            None => metrics.iter().map(|metric| (metric.as_str(), metric.as_str())).collect(),
        };
        for (metric, column) in numbers {
            let found = at(column).map_or("", |at| field(&record, at));
            if NO_NUMBER.contains(&found) {
                continue;
            }
            let line = record.position().map_or(0, csv::Position::line);
            let wrong = || PaperTableError::NoNumber { line, column: column.to_owned(), found: found.to_owned() };
            let number = PaperNumber::read(found).ok_or_else(wrong)?;
            let labels = kept.iter().map(|name| label_toml(at(name).map_or("", |at| field(&record, at)))).collect();
            rows.push(LabelledPaperNumber { labels, metric: metric.to_owned(), number });
        }
    }
    if rows.is_empty() {
        return Err(PaperTableError::Empty);
    }
    Ok(spec_text(&kept, &rows, name, spec))
}

struct LabelledPaperNumber {
    /// Its values of the kept columns, as TOML.
    labels: Vec<String>,
    metric: String,
    number: PaperNumber,
}

/// The separator that is most frequent in the first line: tab, semicolon or comma; a comma if there is none.
fn separator(table: &str) -> u8 {
    let first = table.lines().next().unwrap_or_default();
    let count = |separator: &u8| first.bytes().filter(|byte| byte == separator).count();
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

fn field(record: &StringRecord, at: usize) -> &str {
    record.get(at).unwrap_or_default().trim()
}

/// Quotes a text for TOML, on one line.
fn quote_toml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A label as TOML: a number as it is typed, where TOML reads it as well.
fn label_toml(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok() && format!("x = {text}").parse::<toml::Table>().is_ok();
    if is_number { text.to_owned() } else { quote_toml(text) }
}

fn spec_text(kept: &[&String], rows: &[LabelledPaperNumber], name: &str, spec: &str) -> String {
    let spread = rows.iter().any(|row| row.number.spread.is_some());
    let spreads: &[&str] = if spread { &["spread"] } else { &[] };
    let columns: Vec<String> = kept
        .iter()
        .map(|column| column.as_str())
        .chain(["metric", "value", "precision"])
        .chain(spreads.iter().copied())
        .map(quote_toml)
        .collect();
    let lines: Vec<String> = rows
        .iter()
        .map(|LabelledPaperNumber { labels, metric, number }| {
            let PaperNumber { value, precision, spread: own } = number;
            let mut cells = labels.clone();
            cells.extend([quote_toml(metric), format_exact(*value), format_exact(*precision)]);
            cells.extend(spread.then(|| own.map_or("\"\"".to_owned(), format_exact)));
            format!("    [{}],\n", cells.join(", "))
        })
        .collect();
    let axes: Vec<&str> =
        kept.iter().map(|column| column.as_str()).filter(|column| !ABOUT_NUMBERS.contains(column)).collect();
    let table = axes.into_iter().chain(["metric", "replicate", "value"]).collect::<Vec<_>>().join(", ");
    format!(
        "# Numbers published in a paper. `dpgp grade RUNS.csv --experiment {spec}` compares runs with them. RUNS.csv needs the columns\n\
         # {table}, and a row for each run.\n\n\
         [experiment]\n\
         title = {}\n\
         # paper = \"its authors, title and year\"\n\n\
         # The precision is the unit of the last published digit. Each number is assumed to come from one run. If each is the mean of five runs,\n\
         # write all = {{ runs = 5 }}. A published spread is compared with that of your runs once its kind and count are given, for\n\
         # example all = {{ runs = 5, spread_kind = \"sd-replicates\", count = 5 }}.\n\
         [published.table]\n\
         columns = [{}]\n\
         rows = [\n{}]\n\n\
         # What the paper concludes from them:\n\
         # [[claim]]\n\
         # quote = \"the paper's own words\"\n\
         # place = \"Section 4\"\n\
         # text = \"the statement in your words\"\n\
         # metric = {}\n\
         # cells = {{ AXIS = \"LABEL\" }}\n\
         # is = \"below\"\n\
         # other = {{ AXIS = \"ANOTHER\" }}\n",
        quote_toml(name),
        columns.join(", "),
        lines.concat(),
        quote_toml(&rows[0].metric),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits decide the precision: what a paper rounds agrees within half of its last digit.
    #[test]
    fn numbers_are_read_as_papers_print_them() {
        let printed = |value, precision, spread| Some(PaperNumber { value, precision, spread });
        for (text, expected) in [
            ("0.71", printed(0.71, 0.01, None)),
            ("12", printed(12.0, 1.0, None)),
            (" 97.5 % ", printed(97.5, 0.1, None)),
            ("−1.50", printed(-1.5, 0.01, None)),
            ("1.2e-3", printed(1.2e-3, 1e-4, None)),
            ("0.71 ± 0.02", printed(0.71, 0.01, Some(0.02))),
            ("0.71 (0.02)", printed(0.71, 0.01, Some(0.02))),
            ("0.71+-0.02", printed(0.71, 0.01, Some(0.02))),
            ("0.80 +/- 0.02*", printed(0.8, 0.01, Some(0.02))),
            ("0.8 \\pm 0.1", printed(0.8, 0.1, Some(0.1))),
            ("71.0% ± 0.2%", printed(71.0, 0.1, Some(0.2))),
            ("low", None),
            ("nan", None),
            ("1 ± much", None),
            ("", None),
        ] {
            assert_eq!(PaperNumber::read(text), expected, "{text:?}");
        }
    }

    /// Wide and long tables make the same spec.
    #[test]
    fn wide_and_long_tables_say_the_same() {
        let wide = "method,alpha,rmse,mae\nridge,0.1,0.71,0.5\n\"a \"\"b\"\"\",1,,0.60\n";
        let long = "method,alpha,metric,value\nridge,0.1,rmse,0.71\nridge,0.1,mae,0.5\n\"a \"\"b\"\"\",1,mae,0.60\n";
        let metrics = ["rmse".to_owned(), "mae".to_owned()];
        let text = spec_from_paper_table(wide, &metrics, "n", "n.toml").unwrap();
        assert_eq!(spec_from_paper_table(long, &[], "n", "n.toml").unwrap(), text);
        let spec: toml::Table = text.parse().unwrap();
        let rows = spec["published"]["table"]["rows"].as_array().unwrap();
        assert_eq!(rows[2].to_string(), "['a \"b\"', 1, \"mae\", 0.6, 0.01]");
        let semicolons = spec_from_paper_table(&format!("\u{feff}{}", wide.replace(',', ";")), &metrics, "n", "n.toml");
        assert_eq!(semicolons.unwrap(), text);
        assert!(matches!(spec_from_paper_table(wide, &[], "n", "n.toml"), Err(PaperTableError::NoMetrics { .. })));
        let typo = spec_from_paper_table(wide, &["rmsa".to_owned()], "n", "n.toml").unwrap_err().to_string();
        assert!(typo.contains("did you mean \"rmse\"?"), "{typo}");
        let words = spec_from_paper_table("m,rmse\nridge,low\n", &metrics[..1], "n", "n.toml").unwrap_err().to_string();
        assert!(words.starts_with("line 2: rmse is \"low\""), "{words}");
    }
}

//! The reader of tables, on small files.

use std::fs;
use std::path::PathBuf;

use dpgp::data::{Comparison, CsvFormat, DataError, FilterValue, RowFilter, Separator, Table};
use tempfile::TempDir;

/// A file in a folder of its own.
struct Sheet {
    _folder: TempDir,
    path: PathBuf,
}

fn sheet(contents: impl AsRef<[u8]>) -> Sheet {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sheet.csv");
    fs::write(&path, contents).unwrap();
    Sheet { _folder: folder, path }
}

fn read(contents: impl AsRef<[u8]>, format: &CsvFormat) -> Result<Table, DataError> {
    Table::read(&sheet(contents).path, format)
}

fn table(contents: &str) -> Table {
    read(contents, &CsvFormat::default()).unwrap()
}

fn format(toml: &str) -> CsvFormat {
    toml::from_str(toml).unwrap()
}

/// The message after the path of the file, which it must begin with.
fn message<T: std::fmt::Debug>(result: Result<T, DataError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
    let text = error.to_string();
    let (path, rest) = text.split_once("sheet.csv: ").expect("the message names the file");
    assert!(path.starts_with('/') || cfg!(windows));
    rest.to_owned()
}

fn by(column: &str, is: Comparison, value: f64) -> RowFilter {
    RowFilter { column: column.to_owned(), is, value: FilterValue::Number(value) }
}

fn by_text(column: &str, is: Comparison, value: &str) -> RowFilter {
    RowFilter { column: column.to_owned(), is, value: FilterValue::Text(value.to_owned()) }
}

#[test]
fn semicolons_quotes_and_a_byte_order_mark() {
    let text = "\u{feff}\"height\";\"age\"\n151.765;63\n139.7;\"63\"\n";
    let table = read(text, &format("separator = ';'")).unwrap();
    assert_eq!(table.column_names(), ["height", "age"]);
    assert_eq!(table.row_count(), 2);
    assert_eq!(table.numeric_column("height").unwrap(), [151.765, 139.7]);
    assert_eq!(table.numeric_column("age").unwrap(), [63.0, 63.0]);
}

#[test]
fn carriage_returns_and_no_line_end_at_the_end() {
    let table = table("a,b\r\n1,2\r\n3,4");
    assert_eq!(table.column_names(), ["a", "b"]);
    assert_eq!(table.numeric_column("b").unwrap(), [2.0, 4.0]);
}

#[test]
fn quoted_separators_quotes_and_line_ends() {
    let table = table("name,x\n\"Smith, \"\"J\"\"\",1\n\"two\nlines\",2\nplain,3\n");
    let names = table.text_column("name").unwrap();
    assert_eq!(names[0].as_deref(), Some("Smith, \"J\""));
    assert_eq!(names[1].as_deref(), Some("two\nlines"));
    assert_eq!(table.numeric_column("x").unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(table.line_numbers(), [2, 3, 5]);
}

#[test]
fn numbers_in_every_usual_form() {
    let table = table("x\n1\n -2.5 \n+3e2\n.5\n1E-3\n");
    assert_eq!(table.numeric_column("x").unwrap(), [1.0, -2.5, 300.0, 0.5, 0.001]);
}

#[test]
fn a_missing_cell_names_its_line_and_column() {
    let table = table("a,b\n1,2\n3,\n");
    let text = message(table.numeric_column("b"));
    assert_eq!(text, "line 3, column \"b\": the cell is empty; expected a number");
    assert_eq!(table.numeric_column("a").unwrap(), [1.0, 3.0]);
    assert_eq!(table.text_column("b").unwrap(), [Some("2".to_owned()), None]);
}

#[test]
fn a_quoted_empty_cell_is_missing_too() {
    let text = message(table("a,b\n1,\"\"\n").numeric_column("b"));
    assert!(text.starts_with("line 2, column \"b\": the cell is empty"), "{text}");
}

#[test]
fn a_cell_that_is_no_number() {
    let text = message(table("a,b\n1,2\n3,4\nx1,6\n").numeric_column("a"));
    assert_eq!(text, "line 4, column \"a\": the cell is not a number");
}

#[test]
fn cells_that_are_not_finite() {
    for cell in ["inf", "-Infinity", "-nan", "1e400"] {
        let text = message(table(&format!("a\n1\n{cell}\n")).numeric_column("a"));
        assert_eq!(text, "line 3, column \"a\": the cell is not a finite number");
    }
}

#[test]
fn words_for_nothing_are_no_numbers() {
    for cell in ["NA", "na", "NaN", "nan", " NULL "] {
        let text = message(table(&format!("a\n1\n{cell}\n")).numeric_column("a"));
        assert_eq!(text, "line 3, column \"a\": the cell is NA, NaN or null; expected a number");
    }
}

#[test]
fn lines_stay_right_after_filters_comments_and_blank_lines() {
    let text = "# made by hand\n\na,b\n1,10\n# aside\n2,20\n\n1,x\n";
    let table = read(text, &format("comment = '#'")).unwrap();
    assert_eq!(table.line_numbers(), [4, 6, 8]);
    let kept = table.filter(&by("a", Comparison::Equal, 1.0)).unwrap();
    assert_eq!(kept.row_count(), 2);
    assert_eq!(message(kept.numeric_column("b")), "line 8, column \"b\": the cell is not a number");
    let again = kept.filter(&by_text("b", Comparison::NotEqual, "x")).unwrap();
    assert_eq!(again.numeric_column("b").unwrap(), [10.0]);
    assert_eq!(again.line_numbers(), [4]);
}

#[test]
fn an_unknown_column_names_those_there_are() {
    let text = message(table("height,weight,age\n1,2,3\n").numeric_column("hieght"));
    let expected = "there is no column \"hieght\" (did you mean \"height\"?); the columns are: height, weight, age";
    assert_eq!(text, expected);
    let text = message(table("a\n1\n").filter(&by("zebra", Comparison::Equal, 0.0)));
    assert_eq!(text, "there is no column \"zebra\"; the columns are: a");
}

#[test]
fn every_comparison_with_a_number() {
    let table = table("x\n1\n2\n3\n");
    let kept = |is| table.filter(&by("x", is, 2.0)).unwrap().numeric_column("x").unwrap();
    assert_eq!(kept(Comparison::Equal), [2.0]);
    assert_eq!(kept(Comparison::NotEqual), [1.0, 3.0]);
    assert_eq!(kept(Comparison::Less), [1.0]);
    assert_eq!(kept(Comparison::LessOrEqual), [1.0, 2.0]);
    assert_eq!(kept(Comparison::Greater), [3.0]);
    assert_eq!(kept(Comparison::GreaterOrEqual), [2.0, 3.0]);
}

#[test]
fn numbers_compare_by_value_and_text_by_letters() {
    let table = table("x,day\n10,2016-06-02\n9.0,2016-06-10\n");
    assert_eq!(table.filter(&by("x", Comparison::Less, 10.0)).unwrap().row_count(), 1);
    assert_eq!(table.filter(&by("x", Comparison::Equal, 9.0)).unwrap().row_count(), 1);
    let late = table.filter(&by_text("day", Comparison::GreaterOrEqual, "2016-06-10")).unwrap();
    assert_eq!(late.line_numbers(), [3]);
}

#[test]
fn a_filter_drops_missing_cells_and_refuses_text_among_numbers() {
    let table = table("x,y\n1,a\n,b\n3,\n");
    assert_eq!(table.filter(&by("x", Comparison::NotEqual, 1.0)).unwrap().line_numbers(), [4]);
    assert_eq!(table.filter(&by_text("y", Comparison::NotEqual, "a")).unwrap().line_numbers(), [3]);
    assert_eq!(table.drop_rows_with_missing(&["x", "y"]).unwrap().line_numbers(), [2]);
    let text = message(table.filter(&by("y", Comparison::Equal, 1.0)));
    assert_eq!(text, "line 2, column \"y\": the cell is not a number");
}

#[test]
fn a_filter_that_keeps_nothing() {
    let none = table("x\n1\n").filter(&by("x", Comparison::Equal, 2.0)).unwrap();
    assert_eq!((none.row_count(), none.numeric_column("x").unwrap().len()), (0, 0));
    assert_eq!(none.column_names(), ["x"]);
}

#[test]
fn a_header_without_rows() {
    let table = table("x,y\n");
    assert_eq!((table.row_count(), table.column_names().len()), (0, 2));
    assert!(table.numeric_column("x").unwrap().is_empty());
}

#[test]
fn an_empty_file() {
    let text = message(read("", &CsvFormat::default()));
    assert_eq!(text, "the file is empty; expected a header");
}

#[test]
fn rows_of_the_wrong_width() {
    let text = message(read("a,b\n1,2\n3,4,5\n", &CsvFormat::default()));
    let expected = "line 3 has 3 cells, but there are 2 columns (is the separator right? If line 3 is a note or a total, remove it)";
    assert_eq!(text, expected);
    assert!(message(read("a,b\n1\n", &CsvFormat::default())).starts_with("line 2 has 1 cells"));
}

#[test]
fn a_quote_that_stays_open() {
    let text = message(read("a,b\n1,\"2\n3,4\n", &CsvFormat::default()));
    assert_eq!(text, "line 2 opens a quote that is never closed");
}

#[test]
fn text_that_is_not_utf8() {
    let text = message(read(b"a\nfine\nna\xefve\n", &CsvFormat::default()));
    assert_eq!(text, "line 3 is not UTF-8 text; convert the file to UTF-8");
}

#[test]
fn a_column_that_is_there_twice() {
    let text = message(read("a,b,a\n1,2,3\n", &CsvFormat::default()));
    assert_eq!(text, "the column \"a\" occurs twice; rename one");
}

#[test]
fn columns_without_a_header() {
    let table = read("M,0.5\nF,0.4\n", &format("header = false\ncolumns = ['sex', 'length']")).unwrap();
    assert_eq!(table.numeric_column("length").unwrap(), [0.5, 0.4]);
    assert_eq!(table.line_numbers(), [1, 2]);
    let text = message(read("1\n", &format("header = false")));
    assert_eq!(text, "the format has no header, so it must list the columns");
}

#[test]
fn a_header_other_than_the_listed_one() {
    let text = message(read("a,c\n1,2\n", &format("columns = ['a', 'b']")));
    assert_eq!(text, "line 1: the header names the columns a, c, but the format lists a, b");
}

#[test]
fn runs_of_blanks_between_cells() {
    let text = "# comment\n2 columns\nsay \"what\n 1   14\n10\t 25 \n";
    let layout = "separator = 'whitespace'\nheader = false\ncomment = '#'\nskip = 2\ncolumns = ['i', 'age']";
    let table = read(text, &format(layout)).unwrap();
    assert_eq!(table.numeric_column("i").unwrap(), [1.0, 10.0]);
    assert_eq!(table.numeric_column("age").unwrap(), [14.0, 25.0]);
    assert_eq!(table.line_numbers(), [4, 5]);
}

#[test]
fn a_missing_file_is_missing_data() {
    let error = Table::read("/nowhere/x.csv".as_ref(), &CsvFormat::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /nowhere/x.csv: "), "{error}");
    assert_eq!(error.exit_code(), 3);
}

#[test]
fn separators() {
    assert_eq!(format("separator = \"\\t\"").separator, Separator::Byte(b'\t'));
    assert_eq!(format("separator = 'whitespace'").separator, Separator::Whitespace);
    for wrong in ["", ";;", "\"", "é", ".", "1", "e", "-"] {
        let error = toml::from_str::<CsvFormat>(&format!("separator = {wrong:?}")).unwrap_err();
        assert!(error.to_string().contains("is not allowed: use a comma"), "{error}");
    }
}

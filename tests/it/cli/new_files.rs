//! `dpgp new --data` of files that are not as they should be: what is refused, and what is left out, with the line and the cause.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::cli::{Project, Run};
use crate::support::parquet_file::{Column, write_parquet};

/// What `new` says of a file with these bytes.
fn new(name: &str, bytes: impl AsRef<[u8]>, more: &[&str], code: i32) -> (Project, Run) {
    let project = Project::empty();
    project.put(name, bytes);
    let run = project.dpgp(&[&["new", "q", "--data", name], more].concat()).expect(code);
    assert_eq!(project.path("q.toml").exists(), code == 0, "{}{}", run.out, run.err);
    (project, run)
}

/// A file that is refused, and what is said.
fn refused(bytes: impl AsRef<[u8]>, says: &[&str]) {
    let (_, run) = new("d.csv", bytes, &[], 2);
    assert!(says.iter().all(|says| run.err.contains(says)), "{says:?}: {}", run.err);
}

const ROWS: &str = "24,155\n25,156\n26,157\n";

#[test]
fn the_first_cell_that_is_no_number_is_named() {
    for (last, column, cause) in [
        ("Total,60", "age", "text"),
        ("27,$60", "height", "a number with a currency"),
        ("27,N/A", "height", "an unknown code for a missing value"),
        ("27,\"1,5\"", "height", "a number with a decimal comma"),
        ("27,175.5 cm", "height", "a number followed by text"),
        ("2020-01-31,5", "age", "a date or a time"),
    ] {
        let (_, run) = new("d.csv", format!("age,height\n{ROWS}{last}\n"), &[], 2);
        let told = format!("column {column:?}: in line 5 the cell is {cause}");
        assert!(run.err.contains(&told), "{last}: {}", run.err);
        assert!(!run.err.contains("175.5") && !run.err.contains("60"), "{}", run.err);
    }
}

#[test]
fn what_is_left_out_is_said() {
    let rows = "age,bmi,who,day,,\n1,2,Ann,2020-01-31,,\n5,6,7,2020-02-01,,\n8,9,Eve,2020-02-02,,\n";
    let (project, run) = new("d.csv", rows, &[], 0);
    assert!(run.out.contains("target \"bmi\", predicted from \"age\""), "{}", run.out);
    assert!(run.out.contains("\"who\": in line 2 the cell is text"), "{}", run.out);
    assert!(run.out.contains("\"day\": in line 2 the cell is a date or a time"), "{}", run.out);
    assert!(!run.out.contains("column \"\""), "{}", run.out);
    // What `new` takes can be read afterwards.
    let run = project.dpgp(&["run", "q.toml"]).expect(2);
    assert!(run.err.contains("fill in"), "{}", run.err);
    let json = project.dpgp(&["new", "j", "--data", "d.csv", "--format", "json"]).expect(0).json();
    assert_eq!(json["left_out"].as_array().map(Vec::len), Some(2), "{json}");
}

/// The user expects such a column among the inputs, so it is not left out in silence.
#[test]
fn single_cells_that_are_no_numbers_are_an_error() {
    let rows = "age,bmi,income,height\n1,2,3,4\n5,6,N/A,7\n8,9,3,175.5 cm\n";
    let (project, run) = new("d.csv", rows, &[], 2);
    assert!(run.err.contains("not every cell of these columns is a number"), "{}", run.err);
    assert!(run.err.contains("\"income\": in line 3 the cell is an unknown code for a missing value"), "{}", run.err);
    assert!(run.err.contains("\"height\": in line 4 the cell is a number followed by text"), "{}", run.err);
    let named = ["new", "other", "--data", "d.csv", "--target", "height"];
    project.dpgp(&named).expect(2);
    let named = [&named[..], &["--inputs", "age"]].concat();
    let run = project.dpgp(&named).expect(2);
    assert!(run.err.contains("\"height\" is not numeric: in line 4"), "{}", run.err);
    // One of the two would still be chosen by default.
    project.dpgp(&["new", "other", "--data", "d.csv", "--inputs", "age"]).expect(2);
    project.dpgp(&["new", "other", "--data", "d.csv", "--target", "bmi"]).expect(2);
    project.dpgp(&["new", "other", "--data", "d.csv", "--target", "bmi", "--inputs", "age"]).expect(0);
    project.dpgp(&["new", "count", "--data", "d.csv", "--count", "--inputs", "age"]).expect(0);
}

#[test]
fn titles_comments_and_second_headers_are_named() {
    let title = ["line 1 is a title or a comment"];
    refused(format!("# created 2020\nage,height\n{ROWS}"), &title);
    refused(format!("Heights of children\n\nage,height\n{ROWS}"), &title);
    refused("Report; of 2020; at home\nage,height\n1,2\n3,4\n", &title);
    refused("Table 1\nage;height\n1;2\n3;4\n", &title);
    let second = ["line 2 has text where later rows have numbers", "in line 2 the cell is text"];
    refused(format!("Heights of children,\nage,height\n{ROWS}"), &second);
    refused(format!("age,height\nyears,cm\n{ROWS}"), &second);
}

#[test]
fn line_ends_of_old_macs_are_named() {
    let cause = ["carriage returns without line feeds"];
    refused(format!("age,height\n{ROWS}").replace('\n', "\r"), &cause);
    refused("\"age, years\",height\r1,2\r3,4", &cause);
    refused("age,height\n1,2\r3,4\r", &cause);
    let (_, run) = new("d.csv", ROWS.replace('\n', "\r"), &["--no-header"], 2);
    assert!(run.err.contains(cause[0]), "{}", run.err);
    // In quotes they are a part of a name.
    new("d.csv", "\"age\r(years)\",height\r\n1,2\r\n", &[], 0);
}

#[test]
fn separators_are_what_all_rows_share() {
    let inputs = |bytes: &str, more: &[&str], separator: &str, columns: &str| {
        let (project, _) = new("d.csv", bytes, more, 0);
        let spec = project.read("q.toml");
        assert!(spec.contains(columns), "{bytes:?}: {spec}");
        let named = format!("separator = {separator:?}");
        assert_eq!(spec.contains("separator = "), separator != ",", "{bytes:?}: {spec}");
        assert!(separator == "," || spec.contains(&named), "{bytes:?}: {spec}");
    };
    let both = "inputs = [\"Age, years\"]\ntarget = \"Height, cm\"\n";
    inputs("Age, years;Height, cm\n24;155\n25;156\n", &[], ";", both);
    inputs("Age, years\tHeight, cm\n24\t155\n25\t156\n", &[], "\t", both);
    inputs("\"Age, years\",\"Height, cm\"\n24,155\n", &[], ",", both);
    let pipe = "inputs = [\"age\"]\ntarget = \"height\"\n";
    inputs("age|height\n24|155\n", &["--separator", "|"], "|", pipe);
    inputs("age\theight\n24\t155\n", &["--separator", "tab"], "\t", pipe);
    inputs("a,ge|height\n24|155\n", &["--separator=|"], "|", "inputs = [\"a,ge\"]");
    refused("age|height\n24|155\n25|156\n", &["in line 2 the cell is text", "--separator '|'"]);
    for bad in ["", "ab", "\"", "5", "a"] {
        new("d.csv", "a,b\n1,2\n", &["--separator", bad], 2);
    }
    let project = Project::empty();
    write_parquet(&project.path("d.parquet"), &[("a", Column::Double(vec![Some(1.0)]))], 1);
    let run = project.dpgp(&["new", "--data", "d.parquet", "--separator", ";"]).expect(2);
    assert!(run.err.contains("remove --columns, --no-header and --separator"), "{}", run.err);
}

/// A row of numbers with decimal commas is no header, and no cell of it is told.
#[test]
fn decimal_commas_are_named_with_a_header_and_without() {
    let rows = "24,92;155,1\n25,5;156,2\n26,0;157,3\n";
    let (_, run) = new("d.csv", rows, &["--no-header"], 2);
    assert!(run.err.contains("\"column1\": in line 1 the cell is a number with a decimal comma"), "{}", run.err);
    let (_, run) = new("d.csv", rows, &[], 2);
    assert!(run.err.contains("numbers where column names should be"), "{}", run.err);
    assert!(!run.err.contains("92"), "{}", run.err);
    let (_, run) = new("d.csv", rows, &["--columns", "age,height"], 2);
    assert!(run.err.contains("\"age\": in line 1 the cell is a number with a decimal comma"), "{}", run.err);
    let (_, run) = new("d.csv", format!("age;height\n{rows}"), &[], 2);
    assert!(run.err.contains("\"age\": in line 2 the cell is a number with a decimal comma"), "{}", run.err);
}

/// Wherever a table is read.
#[test]
fn files_of_another_kind_are_named() {
    let spec = "experiment.title = \"k\"\ndata = { source.csv.path = \"FILE\", inputs = [\"x\"], target = \"y\" }
normalise.bounds = { low = 0.0, high = 1.0 }
model = { noise_variance = 1.0, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.regression = { split.contiguous = 2, draws = 2 }
privacy = { epsilon = 1.0, delta = 0.01, change = 1.0, mechanism.cloaking = { objective = \"trace\", rank_tolerance = 0.0 } }\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(b"PAR1\x15\x04\x15\x00").unwrap();
    for (name, bytes, says) in [
        ("d.xlsx", b"PK\x03\x04\x14\x00\x00\x00\x08\x00".to_vec(), "a workbook (.xlsx, .ods)"),
        ("d.csv", b"PK\x03\x04\n\x00\x00\x00\x08\x00".to_vec(), "a zip archive"),
        ("d.csv.zst", b"\x28\xb5\x2f\xfd\x04\x00\x01\x00".to_vec(), "compressed with Zstandard"),
        ("d.csv", b"PAR1\x15\x04\x15\x00".to_vec(), "is Parquet; rename it to end in .parquet"),
        ("d.csv.gz", gzip.finish().unwrap(), "is Parquet"),
        ("d.csv", b"\x1f\x8b\x08\x00\x00\x00".to_vec(), "compressed with gzip; rename it"),
        ("d.csv.xz", b"\xfd7zXZ\x00\x00\x04".to_vec(), "compressed with xz"),
        ("d.csv.bz2", b"BZh91AY&SY\x00\x00".to_vec(), "compressed with bzip2"),
        ("d.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), "an old workbook"),
        ("d.csv", b"\xff\xfex\x00,\x00y\x00\n\x00".to_vec(), "text in UTF-16"),
        ("d.csv", b"x\x00,\x00y\x00\n\x00".to_vec(), "text in UTF-16"),
    ] {
        let (project, run) = new(name, &bytes, &[], 2);
        assert!(run.err.contains(says), "{name}: {}", run.err);
        project.write("s.toml", &spec.replace("FILE", name));
        project.write("good.csv", "x,y\n0.5,0.5\n0.1,0.2\n");
        project.write("good.toml", &spec.replace("FILE", "good.csv"));
        for verb in [&["run", "s.toml"][..], &["predict", "good.toml", "--at", name, "--no-ledger"]] {
            let run = project.dpgp(verb).expect(2);
            assert!(run.err.contains(says), "{verb:?} {name}: {}", run.err);
        }
    }
    let (_, run) = new("d.parquet", b"PK\x03\x04\x14\x00\x00\x00\x08\x00 and more", &[], 2);
    assert!(run.err.contains("a zip archive or a workbook"), "{}", run.err);
}

#[test]
fn zeros_behind_gzip_are_no_rows() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(format!("age,height\n{ROWS}").as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    new("d.csv.gz", [&packed[..], &[0; 512]].concat(), &[], 0);
    new("d.csv.gz", [&packed[..], &[0; 512], b"x"].concat(), &[], 2);
}

/// Excel writes empty columns beside a table.
#[test]
fn empty_columns_without_a_name_are_passed_over() {
    for rows in [
        "age,height,,\n24,155,,\n25,156,,\n",
        "age,,height, ,\n24,,155,,\n",
        ",age,height,,\n1,24,155,,\n2,25,156,, \n",
    ] {
        let (project, run) = new("d.csv", rows, &[], 0);
        assert!(project.read("q.toml").contains("inputs = [\"age\"]\ntarget = \"height\"\n"), "{}", run.out);
        let run = project.dpgp(&["run", "q.toml"]).expect(2);
        assert!(run.err.contains("fill in"), "{}", run.err);
    }
    refused("age,height,,\n24,155,,\n25,156,,7\n", &["line 3 has a cell in a column without a name"]);
}

/// Nobody means to predict the number of a row.
#[test]
fn an_index_is_neither_target_nor_input_unless_it_is_named() {
    let roles = "inputs = [\"age\"]\ntarget = \"height\"\n";
    for rows in [",age,height\n0,24,155\n1,25,156\n", "Unnamed: 0,age,height\n0,24,155\n", "age,height,\n24,155,0\n"] {
        let (project, run) = new("d.csv", rows, &[], 0);
        assert!(project.read("q.toml").contains(roles) && run.out.contains("it only numbers the rows"), "{}", run.out);
    }
    let project = Project::empty();
    let numbers = |from: f64| Column::Double(vec![Some(from), Some(from + 1.0)]);
    let index = Column::Int64(vec![Some(4), Some(2)]);
    let columns = [("age", numbers(3.0)), ("height", numbers(90.0)), ("__index_level_0__", index)];
    write_parquet(&project.path("d.parquet"), &columns, 9);
    let run = project.dpgp(&["new", "q", "--data", "d.parquet"]).expect(0);
    assert!(project.read("q.toml").contains(roles), "{}", project.read("q.toml"));
    assert!(run.out.contains("\"__index_level_0__\": it only numbers the rows"), "{}", run.out);
    let named = ["new", "n", "--data", "d.parquet", "--inputs", "__index_level_0__", "--target", "age"];
    project.dpgp(&named).expect(0);
    assert!(project.read("n.toml").contains("inputs = [\"__index_level_0__\"]\ntarget = \"age\"\n"));
}

/// What is printed can be run as it is: places in words where words can name the inputs, else in a file.
#[test]
fn printed_commands_work() {
    let (_, run) = new("d.csv", "\"age, years\",height\n24,155\n25,156\n", &[], 0);
    assert!(run.out.contains("dpgp predict q.toml --at grid.csv --preview"), "{}", run.out);
    assert!(!run.out.contains("--grid"), "{}", run.out);
    let (_, run) = new("d.csv", "age=years,height\n24,155\n", &[], 0);
    assert!(run.out.contains("--grid=age=years=FROM..TO:20 --preview"), "{}", run.out);
    let project = Project::empty();
    project.write("-d.csv", "age,height\n24,155\n");
    let run = project.dpgp(&["new", "--data=-d.csv"]).expect(0);
    assert!(run.out.contains("dpgp run ./-d.toml"), "{}", run.out);
    project.dpgp(&["run", "./-d.toml"]).expect(2);
    let run = project.dpgp(&["new", "my study"]).expect(0);
    assert!(run.out.contains("try: dpgp run 'my study.toml'"), "{}", run.out);
    let run = project.dpgp(&["show", "my study.toml"]).expect(0);
    assert!(run.out.contains("dpgp run 'my study.toml'"), "{}", run.out);
}

/// Time must grow with the number of columns, not with its square.
#[test]
fn very_many_columns_are_read_at_once() {
    let names: Vec<String> = (0..200_000).map(|column| format!("c{column}")).collect();
    let row = vec!["1"; names.len()].join(",");
    let start = std::time::Instant::now();
    let (_, run) = new("d.csv", format!("{}\n{row}\n", names.join(",")), &[], 0);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    assert!(run.out.len() < 10_000 && run.out.contains("and 199979 more"), "{}", run.out.len());
}

/// Guards against public settings that depend on a private number of rows. One file of each pair has a row more, where a public number of
/// rows would change a setting.
#[test]
fn a_private_number_of_rows_shows_in_no_setting() {
    let people = ["--person", "p", "--rows-per-person", "3"];
    let pairs: [(&[&str], usize); 5] = [
        (&["--private-inputs", "--target", "y", "--inputs", "x"], 4_999),
        (&["--private-inputs", "--target", "y", "--inputs", "x"], 9_999),
        (&["--private-bounds", "--target", "y"], 4_999),
        (&["--private-bounds", "--target", "y"], 6_000),
        (&["--count", "--inputs", "x", "--relation", "replace-one"], 9_999),
    ];
    let specs = |what: &[&str], rows: usize| {
        [rows, rows + 1].map(|rows| {
            let project = Project::empty();
            let lines = (0..rows).map(|row| format!("{},{},q{}\n", row % 7, row % 11, row / 3));
            project.write("d.csv", &("x,y,p\n".to_owned() + &lines.collect::<String>()));
            let run = project.dpgp(&[&["new", "--data", "d.csv"][..], what].concat());
            let written = ["d.toml", "d-bounds.toml"].map(|name| std::fs::read_to_string(project.path(name)).ok());
            (run.code, run.err.clone(), run.out.clone(), written)
        })
    };
    for (what, rows) in pairs {
        let [one, other] = specs(&[what, &people].concat(), rows);
        assert_eq!(one, other, "{what:?}, {rows}");
        // A public number may show, and does.
        let [one, other] = specs(what, rows);
        assert_ne!(one, other, "{what:?}, {rows}");
    }
    let [one, other] = specs(&["--count", "--inputs", "x"], 9_999);
    assert_eq!(one, other);
}

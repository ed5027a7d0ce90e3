//! Every failure of the data room ends with its exit code, a message that says what to do, and no results.

use std::fs;
use std::io::Write;
use std::time::Duration;

use crate::support::cli::{Project, Run};
use crate::support::coverage::assert_covered;
use crate::support::http_server::{Answer, Server, Site};
use crate::support::parquet_file::{Column, write_parquet};

/// A table of the right form. The digests here were computed with `sha256sum`.
const ROWS: &str = "x,y\n1,0.1\n2,0.2\n3,0.4\n";
const SHA: &str = "0379e55d832a42969dbd0691f1b568dbe4b0356d2a784fd7d12f665ae61b559f";
/// A table of the same size, and its digest.
const OTHER: &str = "x,y\n1,0.1\n2,0.2\n3,0.5\n";
const OTHER_SHA: &str = "0d142ec91f6e0a4e4322a3ec0139e7deb4eef520bdf63551dd94ce8e15b7dc7e";

/// A dataset without mistakes, in three parts.
const HEAD: &str = r#"[dataset.rows]
title = "Rows"
licence = "none"
citation = "nobody"
source = "a book in the library"
"#;
const FORMAT: &str = r#"
[dataset.rows.format.csv]
columns = ["x", "y"]
units = { x = "m" }
"#;
const FILE: &str = r#"
[[dataset.rows.file]]
path = "rows/rows.csv"
sha256 = "0379e55d832a42969dbd0691f1b568dbe4b0356d2a784fd7d12f665ae61b559f"
bytes = 22
urls = ["https://example.invalid/rows.csv"]
"#;
const URL: &str = "https://example.invalid/rows.csv";

/// A spec that reads the dataset.
const STUDY: &str = r#"experiment.title = "rows"
data = { source.dataset = "rows", inputs = ["x"], target = "y" }
model = { noise_variance = 1.0, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.regression = { split.contiguous = 2, draws = 2 }
[privacy]
epsilon = 1.0
delta = 0.01
change = 1.0
mechanism.cloaking = { objective = "trace", rank_tolerance = 0.0 }
"#;

const RUN: &[&str] = &["run", "study.toml"];
const FETCH: &[&str] = &["data", "fetch", "rows", "--quiet"];
const VERIFY: &[&str] = &["data", "verify", "rows"];

/// A project with the sound manifest after replacements, and the spec that reads its dataset.
fn project(changes: &[(&str, &str)]) -> Project {
    let manifest = changes.iter().fold(format!("{HEAD}{FORMAT}{FILE}"), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from:?} must stand once");
        text.replace(from, to)
    });
    let project = Project::with_manifest(&manifest);
    project.put("study.toml", STUDY);
    project
}

/// A project whose dataset has no published digest.
fn unlocked() -> Project {
    project(&[(SHA, "unknown"), ("bytes = 22", "max_bytes = 22")])
}

/// What commands said.
#[derive(Default)]
struct Transcript {
    text: String,
    runs: Vec<(&'static str, Run)>,
}

impl Transcript {
    /// Runs a command that must fail with this code; `server` is the address that is left out of the text.
    fn say(
        &mut self,
        (errors, name): (&'static str, &str),
        project: &Project,
        arguments: &[&str],
        code: i32,
        server: &str,
    ) {
        let run = project.dpgp_without_mirror(arguments).expect(code);
        self.add((errors, name), project, arguments, run, server);
    }

    /// Adds what a run said that failed as it must.
    fn add(
        &mut self,
        (errors, name): (&'static str, &str),
        project: &Project,
        arguments: &[&str],
        run: Run,
        server: &str,
    ) {
        project.assert_nothing_left();
        let (code, command, said) = (run.code, arguments.join(" "), run.redacted(project, server));
        self.text += &format!("# {name} ({errors})\n$ dpgp {command}\n{}{said}[{code}]\n\n", run.out);
        self.runs.push((errors, run));
    }
}

/// A group of failures, which adds to a transcript.
type Group = fn(&mut Transcript);

#[test]
fn every_error_is_explained() {
    let mut runs = Vec::new();
    let groups: [(&str, Group); 6] = [
        ("manifest", manifest_errors),
        ("download", download_errors),
        ("cache", cache_errors),
        ("files", file_errors),
        ("table", table_errors),
        ("parts", part_errors),
    ];
    for (name, group) in groups {
        let mut transcript = Transcript::default();
        group(&mut transcript);
        insta::assert_snapshot!(name, transcript.text);
        runs.extend(transcript.runs);
    }
    let unreachable = [
        ("TableError::NoColumns", "the manifest refuses such a format: ManifestError::NoColumns"),
        ("TableError::ManyCells", "a table of 10^8 cells takes longer to write than a test may"),
        ("FetchError::TimedOut", "a_silent_server takes 90 seconds, so it does not run with the others"),
    ];
    assert_covered("crates/dpgp-data/src", &runs, &unreachable);
}

#[test]
fn the_sound_manifest_serves_a_run() {
    let server = Server::start(vec![site(ROWS, vec![])]);
    let project = project(&[(URL, &server.url("/rows.csv"))]);
    project.dpgp_without_mirror(RUN).expect(0);
    project.dpgp_without_mirror(VERIFY).expect(0);
    assert_eq!(project.read("cache/rows/rows.csv"), ROWS);
}

/// Mistakes in the manifest: the errors, what it is, what is replaced, and by what.
const MANIFEST: &[(&str, &str, &str, &str)] = &[
    ("DataError::ManifestSyntax", "not TOML", "title = \"Rows\"", "title = Rows"),
    ("DataError::ManifestSyntax", "misspelt key", "licence", "license"),
    ("DataError::ManifestSyntax", "missing key", "licence = \"none\"\n", ""),
    ("DataError::ManifestSyntax", "size that is not a number", "bytes = 22", "bytes = \"22\""),
    ("DataError::ManifestSyntax", "negative size", "bytes = 22", "bytes = -22"),
    ("DataError::ManifestSyntax", "unknown format", "format.csv", "format.tsv"),
    ("DataError::ManifestSyntax SeparatorError", "separator", "columns =", "separator = \";;\"\ncolumns ="),
    ("DataError::ManifestEntry ManifestError::NoFile", "no file", FILE, ""),
    ("ManifestError::Path", "path out of the cache", "rows/rows.csv\"\nsha", "../rows.csv\"\nsha"),
    (
        "ManifestError::RepeatedPath",
        "duplicate path",
        HEAD,
        "[dataset.more]\ntitle = \"\"\nlicence = \"\"\ncitation = \"\"\nsource = \"\"\nformat = \"zip\"\n\
         file = [{ path = \"rows/rows.csv\", sha256 = \"unknown\", max_bytes = 9, urls = [] }]\n\
         [dataset.rows]\ntitle = \"\"\nlicence = \"\"\ncitation = \"\"\nsource = \"\"\n",
    ),
    ("ManifestError::Digest", "no digest", SHA, "abc"),
    ("ManifestError::Size", "digest without a size", "bytes = 22\n", ""),
    ("ManifestError::Size", "no digest and a size", SHA, "unknown"),
    ("ManifestError::TooLarge", "size above the limit", "bytes = 22", "bytes = 18446744073709551615"),
    ("ManifestError::Url", "unsafe address", URL, "http://example.org/rows.csv"),
    ("ManifestError::NoFormat", "no format", FORMAT, ""),
    ("ManifestError::NoColumns", "no header and no columns", "columns = [\"x\", \"y\"]", "header = false"),
    ("ManifestError::RepeatedColumn", "duplicate column", "[\"x\", \"y\"]", "[\"x\", \"x\"]"),
    ("ManifestError::StrayUnit", "unit of an unknown column", "{ x = \"m\" }", "{ z = \"m\" }"),
];

fn manifest_errors(transcript: &mut Transcript) {
    for (errors, name, from, to) in MANIFEST {
        transcript.say((errors, name), &project(&[(from, to)]), &["data", "list"], 2, "");
    }
    assert!(transcript.runs.iter().all(|(_, run)| run.err.contains("data/datasets.toml")));
    let broken = project(&[]);
    broken.put("data/datasets.toml", b"\xff");
    let run = broken.dpgp_without_mirror(&["data", "list"]).expect(5);
    assert!(run.err.contains("data/datasets.toml"), "an unreadable manifest must not be replaced: {}", run.err);
}

/// A server's file, and how it answers.
fn site(body: &str, answers: Vec<Answer>) -> Site {
    Site { path: "/rows.csv", body: body.into(), ranges: true, answers }
}

/// Answers that give no file: the errors, what it is, the file served, and how.
fn answers() -> Vec<(&'static str, &'static str, &'static str, Vec<Answer>)> {
    let away = Answer::Redirect("http://example.invalid/".to_owned());
    vec![
        ("DataError::Download FetchError::Status", "no such file there", ROWS, vec![Answer::Status(404)]),
        ("FetchError::Transport", "answer cut off", ROWS, vec![Answer::Cut(0); 3]),
        ("FetchError::Truncated", "answer that ends early", ROWS, vec![Answer::Endless(5); 3]),
        ("FetchError::TooLarge", "larger file", "x,y\n1,0.1\n2,0.2\n3,0.4\n4,0.3\n", vec![]),
        ("FetchError::RangeRefused", "the wrong part of the file", ROWS, vec![Answer::WrongRange; 3]),
        ("FetchError::Mismatch", "other file", OTHER, vec![]),
        ("FetchError::Insecure", "unsafe redirect", ROWS, vec![away]),
    ]
}

fn download_errors(transcript: &mut Transcript) {
    for (errors, name, body, answers) in answers() {
        let server = Server::start(vec![site(body, answers)]);
        let project = project(&[(URL, &server.url("/rows.csv"))]);
        transcript.say((errors, name), &project, RUN, 3, &server.url(""));
        assert!(!project.path("cache/rows/rows.csv").exists(), "{name} left a file");
    }
    let inner = project(&[(URL, "https://169.254.169.254/rows.csv")]);
    let mut command = inner.command(FETCH);
    let run = Run::new(command.env_remove("DPGP_LOCAL_URLS").env_remove("DPGP_MIRROR").output().unwrap()).expect(3);
    transcript.add(("FetchError::OwnNetwork", "machine on a private network"), &inner, FETCH, run, "");
    let urls = "http://127.0.0.1:1/rows.csv\", \"http://127.0.0.1:2/rows.csv";
    transcript.say(("FetchError::Transport", "no server"), &project(&[(URL, urls)]), FETCH, 3, "");
}

#[test]
#[ignore = "a silent server is given up after 90 seconds"]
fn a_silent_server() {
    let server = Server::start(vec![site(ROWS, vec![Answer::Stall(0, Duration::from_secs(60)); 3])]);
    let project = project(&[(URL, &server.url("/rows.csv"))]);
    let mut transcript = Transcript::default();
    transcript.say(("FetchError::TimedOut", "silent server"), &project, RUN, 3, &server.url(""));
    insta::assert_snapshot!("silent_server", transcript.text);
}

fn cache_errors(transcript: &mut Transcript) {
    let mut say = |case, project: &Project, arguments, code| transcript.say(case, project, arguments, code, "");
    let sound = project(&[]);
    say(("DataError::UnknownDataset", "misspelt name"), &sound, &["data", "fetch", "rowz"], 2);
    say(("DataError::UnknownDataset", "unknown name"), &sound, &["data", "fetch", "howell1"], 2);
    say(("DataError::MissingOffline", "offline"), &sound, &["run", "study.toml", "--offline"], 3);
    sound.put("mirror/README", "");
    let mirrored = ["run", "study.toml", "--offline", "--mirror", "mirror"];
    say(("DataError::MissingOffline", "offline with a mirror"), &sound, &mirrored, 3);
    say(("DataError::NoMirror", "no mirror"), &sound, &["run", "study.toml", "--mirror", "mirrors"], 3);
    sound.put("mirror/rows/rows.csv", OTHER);
    say(("DataError::Mismatch FileLocation::Mirror", "wrong file in a mirror"), &sound, &mirrored, 3);
    sound.put("cache/rows/rows.csv", OTHER);
    say(("DataError::Mismatch FileLocation::Cache", "wrong file in the cache"), &sound, RUN, 3);
    say(("DataError::Mismatch", "wrong file in the cache, fetched again"), &sound, FETCH, 3);
    assert_eq!(sound.read("cache/rows/rows.csv"), OTHER);
    let (verify, line) = (sound.dpgp_without_mirror(VERIFY).expect(3), format!("expected SHA-256 {SHA}"));
    assert!(verify.out.contains(&line) && verify.out.contains(OTHER_SHA), "{}", verify.out);
    let bundled = [("bytes = 22", "bundled = true\nbytes = 22"), ("\"https://example.invalid/rows.csv\"", "")];
    let bundled = project(&bundled);
    say(("DataError::NoAddress", "missing file of the project"), &bundled, RUN, 3);
    bundled.put("data/rows/rows.csv", OTHER);
    say(("DataError::Mismatch FileLocation::Bundled", "wrong file of the project"), &bundled, RUN, 3);
    let nowhere = project(&[("\"https://example.invalid/rows.csv\"", "")]);
    say(("DataError::NoAddress", "no address"), &nowhere, RUN, 3);

    let unlocked = unlocked();
    unlocked.put("cache/rows/rows.csv", format!("{ROWS}4,0.3\n"));
    say(("DataError::Mismatch", "more bytes than allowed"), &unlocked, RUN, 3);
    unlocked.put("cache/rows/rows.csv", OTHER);
    unlocked.put("cache/datasets.lock.toml", lock(SHA));
    say(("DataError::Mismatch", "file that differs from the first copy"), &unlocked, RUN, 3);
    let server = Server::start(vec![site(OTHER, vec![])]);
    let elsewhere = project(&[(SHA, "unknown"), ("bytes = 22", "max_bytes = 22"), (URL, &server.url("/rows.csv"))]);
    elsewhere.put("cache/datasets.lock.toml", lock(SHA));
    transcript.say(
        ("FetchError::Mismatch", "a download that differs from the first"),
        &elsewhere,
        RUN,
        3,
        &server.url(""),
    );
    let mut say = |case, project: &Project, arguments, code| transcript.say(case, project, arguments, code, "");
    unlocked.put("cache/datasets.lock.toml", lock("abc"));
    say(("DataError::LockSyntax DigestParseError", "no digest in the lock file"), &unlocked, RUN, 5);
    unlocked.put("cache/datasets.lock.toml", "[[file]]\n");
    say(("DataError::LockSyntax", "lock file in another format"), &unlocked, VERIFY, 5);
}

/// A lock file that records a digest of the rows.
fn lock(sha: &str) -> String {
    format!("[file.\"rows/rows.csv\"]\nsha256 = \"{sha}\"\nbytes = 22\n")
}

/// Makes a folder, where a test needs one in the place of a file.
fn folder(project: &Project, name: &str) {
    fs::create_dir_all(project.path(name)).unwrap();
}

/// What the system refuses. Folders stand where files should and the other way round, because permissions do not
/// stop the administrator.
fn file_errors(transcript: &mut Transcript) {
    let server = Server::start(vec![site(ROWS, vec![])]);
    let url = server.url("/rows.csv");
    let served = || project(&[(URL, &url)]);
    let mut say = |case, project: &Project, code| transcript.say(case, project, RUN, code, &server.url(""));

    let own = STUDY.replace("source.dataset = \"rows\"", "source.csv.path = \"own.csv\"");
    let project = served();
    project.put("study.toml", &own);
    say(("DataError::Io FileAction::Read", "missing file of the user"), &project, 3);
    folder(&project, "own.csv");
    say(("DataError::NoRowFiles", "empty folder for a file of the user"), &project, 3);

    let project = served();
    project.put("cache", "");
    say(("DataError::Io FileAction::CreateFolder", "file for the cache"), &project, 5);
    let project = served();
    folder(&project, "cache/rows/rows.csv.0379e55d.lock");
    say(("DataError::Io FileAction::Lock", "folder for a lock"), &project, 5);
    let project = served();
    folder(&project, "cache/rows/rows.csv.0379e55d.part");
    say(("DataError::Io FileAction::Write", "folder for a download"), &project, 5);
    let project = served();
    folder(&project, "cache/rows/rows.csv");
    say(("DataError::Io FileAction::Rename", "folder for a dataset"), &project, 5);

    let project = served();
    let sabotage = Answer::Sabotage(project.path("cache/rows/rows.csv.0379e55d.part"), 404);
    let bad = Server::start(vec![site(ROWS, vec![sabotage])]);
    let manifest = project.read("data/datasets.toml").replace(&url, &bad.url("/rows.csv"));
    project.put("data/datasets.toml", manifest);
    say(("DataError::Io FileAction::Delete", "download that became a folder"), &project, 5);

    let project = unlocked();
    folder(&project, "cache/datasets.lock.toml");
    say(("DataError::Io FileAction::Read", "folder for the lock file"), &project, 5);
}

/// Tables that cannot be read: the errors, what it is, and the table.
const TABLES: &[(&str, &str, &[u8])] = &[
    ("DataError::Table TableError::UnknownColumn", "misspelt column", b"x,yy\n1,2\n"),
    ("TableError::UnknownColumn", "other columns", b"a,b\n1,2\n"),
    ("TableError::Cell TableCellError::NotANumber", "text", b"x,y\n1,2\n3,four\n"),
    ("TableError::Cell TableCellError::Missing TableCellError::MissingTarget", "empty cell", b"x,y\n1,2\n3,\n"),
    ("TableCellError::Refused TableCellError::Absent", "word for a missing cell", b"x,y\n1,2\nNA,4\n"),
    ("TableError::Cell TableCellError::NotFinite", "infinity", b"x,y\n1,2\n3,1e999\n"),
    ("TableError::Ragged", "row of three cells", b"x,y\n1,2\n3,4,5\n"),
    ("TableError::RaggedHeader", "other separator", b"x;y\n1,5;2\n"),
    ("TableError::OpenQuote", "open quote", b"x,y\n1,\"2\n3,4\n"),
    ("TableError::NotUtf8", "Latin-1", b"x,y\n1,\xb5\n"),
    ("TableError::Empty", "empty file", b""),
    ("TableError::RepeatedColumn", "duplicate column", b"x,y,x\n1,2,3\n"),
    ("TableError::UnnamedCell", "two columns without a name", b"x,y,,\n1,2,,\n3,4,,5\n"),
    ("TableError::LineEnds", "only carriage returns", b"x,y\r1,2\r"),
    ("TableError::OtherKind", "a workbook", b"PK\x03\x04\x14\x00"),
    ("TableError::NoRows", "only a header", b"x,y\n"),
    ("TableError::StrayQuote", "quotes inside a cell", b"x,y\n1,2\n1\"a,b\"c,2\n"),
    ("TableError::StrayQuote", "line end in quotes inside a cell", b"x,y\n1,2\n1\"a\nb\"c,2\n"),
];

/// Files of the user's own that are no Parquet, or hold what no table can.
fn parquet_errors(transcript: &mut Transcript) {
    let project = project(&[]);
    project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", "source.parquet.path = \"own.parquet\""));
    project.put("own.parquet", ROWS);
    transcript.say(("TableError::OtherKind", "a CSV file named .parquet"), &project, RUN, 2, "");
    let x = || ("x", Column::Int32(vec![Some(1), Some(2)]));
    project.put("own.parquet", packed(parquet(&[Some(1.0)], false)));
    transcript.say(("TableError::Codec", "an unknown codec"), &project, RUN, 2, "");
    project.put("own.parquet", dated());
    transcript.say(("TableError::DateOrTime", "days"), &project, RUN, 2, "");
    let mut say = |name, y| {
        write_parquet(&project.path("own.parquet"), &[x(), ("y", y)], 9);
        transcript.say(name, &project, RUN, 2, "");
    };
    say(("TableError::ColumnType", "column of the wrong type"), Column::Boolean(vec![Some(true); 2]));
    say(("TableError::Cell TableCellError::Missing", "null"), Column::Double(vec![Some(1.0), None]));
}

/// Bytes as gzip.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

/// The columns of a trip.
const TRIP_COLUMNS: &str = "tripduration,starttime,start station id,end station id,start station latitude,\
                            start station longitude,end station latitude,end station longitude,usertype";

/// A Parquet file of two columns: `x` may be missing, and is where it is not finite; `y` is text if so wanted.
fn parquet(x: &[Option<f64>], text: bool) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    let kind = if text { "BINARY" } else { "DOUBLE" };
    let schema = format!("message rows {{ optional double x; required {kind} y; }}");
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = parquet::file::writer::SerializedFileWriter::new(&mut bytes, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let (values, levels): (Vec<f64>, Vec<i16>) =
        (x.iter().flatten().copied().collect(), x.iter().map(|x| i16::from(x.is_some())).collect());
    column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    if text {
        let values = vec![ByteArray::from("word"); x.len()];
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
    } else {
        column.typed::<DoubleType>().write_batch(&vec![1.0; x.len()], None, None).unwrap();
    }
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

/// The same bytes, which say that the column `x` is compressed with Brotli: the codec follows the name of the column.
fn packed(mut bytes: Vec<u8>) -> Vec<u8> {
    let before = [0x19, 0x18, 1, b'x', 0x15, 0];
    let place = bytes.windows(6).rposition(|window| window == before).unwrap();
    // 4, as a number of either sign is written.
    bytes[place + 5] = 8;
    bytes
}

/// A Parquet file of the columns x and y, the second of days.
fn dated() -> Vec<u8> {
    use parquet::data_type::{DoubleType, Int32Type};
    let schema = "message rows { required double x; required int32 y (DATE); }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = parquet::file::writer::SerializedFileWriter::new(&mut bytes, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&[1.0], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[17_000], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

/// A spec that sums rows with the columns x and y.
const SURFACE: &str = r#"
experiment.title = "sums"
data = { source.csv.path = "own.csv", inputs = ["x"], target = "y" }
model = { noise_variance = 1.0, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
[task.surface]
inducing = [{ from = 0.0, to = 1.0, points = 2 }]
posterior = { regularisation = "tight", correction = "none" }
[privacy]
epsilon = 1.0
delta = 1e-6
mechanism.sums = { target_bound = 1.0, features = "line", sensitivity = "exact" }
"#;

fn streamed_parquet_errors(transcript: &mut Transcript) {
    let stats = ["stats", "study.toml", "own.parquet"];
    let cases = [
        ("TableError::Cell TableCellError::Missing", "null", parquet(&[Some(1.0), None, Some(2.0)], false)),
        ("TableError::Cell TableCellError::NotFinite", "infinity", parquet(&[Some(f64::INFINITY)], false)),
        ("TableError::NotNumeric", "words in Parquet", parquet(&[Some(1.0)], true)),
        ("TableError::Parquet", "not a Parquet file", b"PAR1 and no more".to_vec()),
    ];
    for (errors, name, bytes) in cases {
        let project = project(&[]);
        project.put("study.toml", SURFACE);
        project.put("own.parquet", bytes);
        transcript.say((errors, name), &project, &stats, 2, "");
    }
}

/// Folders and patterns of part files.
fn part_errors(transcript: &mut Transcript) {
    let project = project(&[]);
    project.put("study.toml", SURFACE);
    project.put("none/notes.txt", "");
    project.put("packed/part-0.csv.zst", ROWS);
    project.put("packed/part-0.csv.gz", compressed(ROWS.as_bytes()));
    project.put("damaged.csv.gz", &compressed(ROWS.as_bytes())[..15]);
    project.put("long.csv.gz", compressed(&vec![b'x'; (64 << 20) + 8]));
    project.put("twice/x=1/part-0.csv", ROWS);
    project.put("month/y=June/part-0.csv", "x\n1\n");
    project.put("null/y=__HIVE_DEFAULT_PARTITION__/part-0.csv", "x\n1\n");
    for (errors, name, files, code) in [
        ("DataError::NoRowFiles", "a folder without rows", "none", 3),
        ("DataError::NoRowFiles", "a pattern without files", "none/*.csv", 3),
        ("DataError::BadPattern", "a pattern that does not end", "none/[a-z", 2),
        ("DataError::BadPattern", "stars between letters", "none/a**", 2),
        ("TableError::Packed", "rows not compressed with gzip", "packed", 2),
        ("TableError::Gzip", "a gzip file that is cut off", "damaged.csv.gz", 2),
        ("TableError::LongRow", "a row without an end", "long.csv.gz", 2),
        ("TableError::NoFile", "a device", "/dev/null", 2),
        ("DataError::Address", "an address", "s3://bucket/rows.csv", 2),
        ("TableError::ColumnInPath", "a column in file and path", "twice", 2),
        ("TableError::PathCell TableCellError::NotANumber", "a month as a word", "month", 2),
        ("TableError::PathCell TableCellError::Missing", "no month", "null", 2),
    ] {
        transcript.say((errors, name), &project, &["stats", "study.toml", files], code, "");
    }
    project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", "source.csv.path = \"copies\""));
    project.put("copies/a.csv", ROWS);
    project.put("copies/b.csv", ROWS);
    let ledger = ["ledger", "show", "study.toml"];
    transcript.say(("DataError::SameRows", "a file and its copy"), &project, &ledger, 2, "");
}

/// An archive that says of its table that it has 2 GiB.
fn bomb() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("rows.csv", zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(ROWS.as_bytes()).unwrap();
    let mut bytes = archive.finish().unwrap().into_inner();
    // In the entry of the directory the size stands 24 bytes after its signature.
    let entry = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[entry + 24..entry + 28].copy_from_slice(&(1u32 << 31).to_le_bytes());
    bytes
}

/// Trips in an archive that is none, and trips with a list that has a station twice.
fn trip_errors(transcript: &mut Transcript) {
    let unlocked = [(SHA, "unknown"), ("bytes = 22", "max_bytes = 999")];
    let archive = project(&[unlocked[0], unlocked[1], ("rows/rows.csv\"\nsha", "rows/rows.zip\"\nsha")]);
    let trips = "source.trips = { dataset = \"rows\", journeys = \"rows/rows.zip\" }";
    archive.put("study.toml", STUDY.replace("source.dataset = \"rows\"", trips));
    archive.put("cache/rows/rows.zip", ROWS);
    transcript.say(("TableError::Body", "not an archive"), &archive, RUN, 2, "");
    // Another project, since the first copy of a file without a digest is the one that is trusted.
    let large = project(&[unlocked[0], unlocked[1], ("rows/rows.csv\"\nsha", "rows/rows.zip\"\nsha")]);
    large.put("study.toml", STUDY.replace("source.dataset = \"rows\"", trips));
    large.put("cache/rows/rows.zip", bomb());
    transcript.say(("TableError::Unpacked", "an archive of two gigabytes"), &large, RUN, 2, "");
    let list = "\"]\n[[dataset.rows.file]]\npath = \"rows/list.csv\"\nsha256 = \"unknown\"\nmax_bytes = 99\nurls = [";
    let list = format!("urls = [\"https://example.invalid/rows.csv{list}]");
    let twice = project(&[unlocked[0], unlocked[1], ("urls = [\"https://example.invalid/rows.csv\"]", &list)]);
    let trips = "source.trips = { dataset = \"rows\", journeys = \"rows/rows.csv\", stations = \"rows/list.csv\" }";
    twice.put("study.toml", STUDY.replace("source.dataset = \"rows\"", trips));
    let journeys = "start_ts,duration,start_station,end_station,subscriber\n2017-07-17 01:00:00,90,7,8,1\n";
    twice.put("cache/rows/rows.csv", journeys);
    twice.put("cache/rows/list.csv", "station_id,latitude,longitude\n7,40.5,-73.5\n8,40.6,-73.6\n7,40.7,-73.7\n");
    transcript.say(("TableError::Cell TableCellError::RepeatedKey", "a duplicate station"), &twice, RUN, 2, "");
}

fn table_errors(transcript: &mut Transcript) {
    for (errors, name, table) in TABLES {
        let project = project(&[]);
        project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", "source.csv.path = \"own.csv\""));
        project.put("own.csv", table);
        transcript.say((errors, name), &project, RUN, 2, "");
    }
    let project = project(&[]);
    let named = "source.csv = { path = \"own.csv\", columns = [\"x\", \"y\"] }";
    project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", named));
    project.put("own.csv", "x, y\n1,2\n3,4\n");
    transcript.say(("TableError::UnexpectedHeader", "an unexpected header"), &project, RUN, 2, "");
    project.put("spec/study.toml", STUDY.replace("source.dataset = \"rows\"", "source.csv.path = \"../own.csv\""));
    project.put("own.csv", "a,b\n1,2\n");
    transcript.say(("TableError::Withheld", "other columns, elsewhere"), &project, &["run", "spec/study.toml"], 2, "");
    let project = self::project(&[]);
    let codes = "source.csv.path = \"own.csv\", encode.x = [\"F\", \"M\"]";
    project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", codes));
    project.put("own.csv", "x,y\nF,2\nI,3\n");
    transcript.say(("TableCellError::NoCode", "word without a code"), &project, RUN, 2, "");
    let drop = "source.csv.path = \"own.csv\", missing = \"drop\"";
    project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", drop));
    project.put("own.csv", "x,y\n1,2\n,3\n3,\n");
    transcript.say(("TableCellError::NoTarget", "public row without a target"), &project, RUN, 2, "");
    let persons = "source.csv.path = \"own.csv\", person = \"who\", rows_per_person = 2";
    project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", persons));
    project.put("own.csv", "x,y,who\n1,2,Ann\n3,4, \n");
    transcript.say(("TableCellError::NoPerson", "row without a person"), &project, RUN, 2, "");
    parquet_errors(transcript);
    let project = unlocked();
    let trips = "source.trips = { dataset = \"rows\", journeys = \"rows/rows.csv\" }";
    project.put("study.toml", STUDY.replace("source.dataset = \"rows\"", trips));
    let manifest = project.read("data/datasets.toml").replace("max_bytes = 22", "max_bytes = 999");
    project.put("data/datasets.toml", manifest);
    project.put("cache/rows/rows.csv", format!("{TRIP_COLUMNS}\n90,noon,1,2,3.5,4.5,5.5,6.5,x\n"));
    transcript.say(("TableCellError::NotATime", "trip without a valid time"), &project, RUN, 2, "");
    trip_errors(transcript);
    let unlocked_arrays = [(SHA, "unknown"), ("bytes = 22", "max_bytes = 999"), (FORMAT, "format = \"idx-gz\"\n")];
    let arrays = self::project(&unlocked_arrays);
    let images =
        "source.images = { dataset = \"rows\", images = \"rows/rows.csv\", labels = \"rows/rows.csv\", side = 2 }";
    arrays.put("study.toml", STUDY.replace("source.dataset = \"rows\"", images));
    arrays.put("cache/rows/rows.csv", compressed(b"no array"));
    transcript.say(("TableError::NotIdx", "words where images should be"), &arrays, RUN, 2, "");
    streamed_parquet_errors(transcript);
    let project = unlocked();
    project.put("cache/rows/rows.csv", "x,z\n1,2\n");
    transcript.say(("TableError::Header", "other header than the manifest's"), &project, RUN, 2, "");
}

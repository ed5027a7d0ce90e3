//! The manifest: its rules, and the shipped one against real files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dpgp::data::{
    CsvFormat, DataError, DataFile, Dataset, DatasetCache, DatasetFormat, DatasetManifest, DatasetStatus,
    ExpectedContents, FileCheckOutcome, SilentProgress, Table,
};

use crate::support::shipped::root;

const DIGEST: &str = "4c47b3e816fbe7d40cef9f665ba8f0be1ae68b5e8e7ed70f5b6bab7f70528e8f";

fn project_data() -> PathBuf {
    root().join("data")
}

/// The mirror of the environment, if there is one.
fn mirror() -> Option<PathBuf> {
    let mirror = std::env::var_os("DPGP_MIRROR").filter(|mirror| !mirror.is_empty()).map(PathBuf::from);
    if mirror.is_none() {
        println!("skipped: no mirror");
    }
    mirror
}

fn offline(mirror: Option<PathBuf>) -> (tempfile::TempDir, DatasetCache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = DatasetCache::new(folder.path(), project_data()).with_mirror(mirror).with_offline(true);
    (folder, cache)
}

fn csv(file: &DataFile) -> &CsvFormat {
    match &file.format {
        DatasetFormat::Csv(csv) => csv,
        other => panic!("{other:?}"),
    }
}

/// Every dataset but the one that no mirror can hold.
fn obtainable(manifest: &DatasetManifest) -> Vec<&Dataset> {
    manifest.iter().filter(|dataset| dataset.name != "citibike-201606").collect()
}

#[test]
fn the_shipped_manifest_is_valid_and_sorted() {
    let manifest = DatasetManifest::load_shipped().unwrap();
    let names: Vec<&str> = manifest.names().collect();
    let expected = [
        "abalone",
        "census2011-ages",
        "census2011-authorities",
        "citibike-201606",
        "citibike-2017",
        "citibike-301",
        "citibike-jc-201606",
        "fish",
        "hmeq",
        "house-prices",
        "howell1",
        "mnist",
    ];
    assert_eq!(names, expected);
    let files: usize = manifest.iter().map(|dataset| dataset.files.len()).sum();
    assert_eq!(files, 26);
}

#[test]
fn the_shipped_manifest_on_howell1() {
    let manifest = DatasetManifest::load_shipped().unwrap();
    let file = &manifest.get("howell1").unwrap().files[0];
    assert_eq!(csv(file).columns, ["height", "weight", "age", "male"]);
    assert_eq!(csv(file).units["height"], "cm");
    let ExpectedContents::Known(stamp) = file.expected else { panic!("{:?}", file.expected) };
    assert_eq!(stamp.bytes, 12_205);
    let digest = "768d2fb53d44490b35260903f58955548b26f587e7afaf4e00b2603715279bbd";
    assert_eq!(stamp.digest.to_string(), digest);
}

#[test]
fn the_bundled_file_is_right_and_needs_no_cache() {
    let manifest = DatasetManifest::load_shipped().unwrap();
    let dataset = manifest.get("census2011-ages").unwrap();
    let (_folder, cache) = offline(None);
    assert_eq!(cache.status(dataset), DatasetStatus::Present);
    let paths = cache.ensure_dataset_files(dataset, &SilentProgress).unwrap();
    assert_eq!(paths, [project_data().join("census2011/ages_E00172420.csv")]);
    let table = Table::read(&paths[0], csv(&dataset.files[0])).unwrap();
    assert_eq!(table.row_count(), 101);
    assert_eq!(table.numeric_column("count").unwrap().iter().sum::<f64>(), 255.0);
}

#[test]
fn the_file_without_a_digest() {
    let manifest = DatasetManifest::load_shipped().unwrap();
    let dataset = manifest.get("citibike-201606").unwrap();
    assert_eq!(dataset.files[0].expected, ExpectedContents::Unknown { max_bytes: 500_000_000 });
    let (_folder, cache) = offline(None);
    assert_eq!(cache.status(dataset), DatasetStatus::Missing);
    assert_eq!(cache.verify(dataset).unwrap()[0].outcome, FileCheckOutcome::Missing);
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let error = DatasetManifest::load_shipped().unwrap().get("howel1").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("did you mean \"howell1\"?") && text.contains("hmeq, house-prices"), "{text}");
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn every_file_of_the_mirror_is_right() {
    let Some(mirror) = mirror() else { return };
    let (_folder, cache) = offline(Some(mirror));
    for dataset in obtainable(&DatasetManifest::load_shipped().unwrap()) {
        for check in cache.verify(dataset).unwrap() {
            assert_eq!(check.outcome, FileCheckOutcome::Right, "{}", check.file);
        }
        assert!(matches!(cache.status(dataset), DatasetStatus::Present | DatasetStatus::InMirror));
        cache.ensure_dataset_files(dataset, &SilentProgress).unwrap();
    }
}

/// The number of rows in each table, counted with `wc -l` and the notes of the mirror.
#[test]
fn every_table_of_the_mirror_is_read() {
    let Some(mirror) = mirror() else { return };
    let (_folder, cache) = offline(Some(mirror));
    let mut rows = BTreeMap::new();
    for dataset in obtainable(&DatasetManifest::load_shipped().unwrap()) {
        for (file, path) in dataset.files.iter().zip(cache.ensure_dataset_files(dataset, &SilentProgress).unwrap()) {
            if let DatasetFormat::Csv(csv) = &file.format {
                *rows.entry(dataset.name.clone()).or_insert(0) += Table::read(&path, csv).unwrap().row_count();
            }
        }
    }
    let expected = [
        ("abalone", 4177),
        ("census2011-ages", 101),
        ("census2011-authorities", 348),
        ("citibike-2017", 614 + 551_837),
        ("citibike-301", 4212),
        ("citibike-jc-201606", 23_947),
        ("fish", 44),
        ("hmeq", 5960),
        ("house-prices", 10_000),
        ("howell1", 544),
    ];
    assert_eq!(rows, expected.map(|(name, rows)| (name.to_owned(), rows)).into());
}

#[test]
fn fish_is_read_past_its_labels() {
    let Some(mirror) = mirror() else { return };
    let (_folder, cache) = offline(Some(mirror));
    let manifest = DatasetManifest::load_shipped().unwrap();
    let dataset = manifest.get("fish").unwrap();
    let path = cache.ensure_dataset_files(dataset, &SilentProgress).unwrap().remove(0);
    let table = Table::read(&path, csv(&dataset.files[0])).unwrap();
    assert_eq!(table.numeric_column("age").unwrap()[..3], [14.0, 28.0, 41.0]);
    assert_eq!(table.numeric_column("length").unwrap()[43], 3214.0);
}

fn manifest(entry: &str) -> Result<DatasetManifest, DataError> {
    let text = format!("[dataset.x]\ntitle = ''\nlicence = ''\ncitation = ''\nsource = ''\n{entry}");
    DatasetManifest::parse(&text, Path::new("mine.toml"))
}

/// The message about one file with these lines, and what must be in it.
fn assert_refused(entry: &str, wanted: &str) {
    let error = manifest(entry).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(wanted) && text.contains("mine.toml"), "{wanted:?} in {text}");
    assert_eq!(error.exit_code(), 2);
}

fn file(lines: &str) -> String {
    format!("format = 'zip'\n[[dataset.x.file]]\n{lines}\n")
}

#[test]
fn entries_that_break_a_rule() {
    let known = format!("sha256 = '{DIGEST}'\nbytes = 6\nurls = []");
    for path in ["../a", "/a", "a/../b", "a//b", "", "a\\\\b", "C:a", "./a"] {
        assert_refused(&file(&format!("path = \"{path}\"\n{known}")), "must be relative");
    }
    let one = format!("path = 'a'\n{known}");
    assert_refused(&file(&format!("{one}\n[[dataset.x.file]]\n{one}")), "listed twice");
    assert_refused("format = 'zip'", "it has no file");
    assert_refused(&format!("[[dataset.x.file]]\n{one}"), "no format");
    assert_refused(&format!("format = {{ csv = {{ header = false }} }}\n[[dataset.x.file]]\n{one}"), "no header");
    let units = format!("format = {{ csv = {{ units = {{ b = 'cm' }} }} }}\n[[dataset.x.file]]\n{one}");
    assert_refused(&units, "column \"b\"");
    let twice = format!("format = {{ csv = {{ columns = ['b', 'b'] }} }}\n[[dataset.x.file]]\n{one}");
    assert_refused(&twice, "column \"b\" of \"a\" is listed twice");
}

#[test]
fn digests_sizes_and_addresses() {
    assert_refused(&file("path = 'a'\nsha256 = 'abc'\nbytes = 1\nurls = []"), "64 hexadecimal digits");
    assert_refused(&file("path = 'a'\nsha256 = 'unknown'\nbytes = 1\nurls = []"), "`max_bytes`");
    assert_refused(&file(&format!("path = 'a'\nsha256 = '{DIGEST}'\nurls = []")), "`bytes`");
    for url in [
        "ftp://x/a",
        "http://example.org/a",
        "http://127.0.0.1.example.org/a",
        "x",
        "http://127.0.0.1:1@example.org/a",
        "http://localhost@example.org/a",
        "https://user@example.org/a",
        "https://user:word@example.org/a",
        "https://",
    ] {
        let lines = format!("path = 'a'\nsha256 = '{DIGEST}'\nbytes = 6\nurls = ['{url}']");
        assert_refused(&file(&lines), "must begin with https://");
    }
    let lines = format!(
        "path = 'a'\nsha256 = '{DIGEST}'\nbytes = 6\nurls = ['http://127.0.0.1:80/a', 'http://[::1]/a', 'http://localhost', 'https://x:1/a?b@c']"
    );
    manifest(&file(&lines)).unwrap();
}

#[test]
fn misspelt_keys_are_refused_with_their_line() {
    let error = manifest("licens = ''\n").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("line 6") && text.contains("licens"), "{text}");
    assert_eq!(error.exit_code(), 2);
    assert_refused(&file("path = 'a'\nsha = ''"), "unknown field `sha`");
    assert_refused("format = { csv = { seperator = ';' } }", "seperator");
}

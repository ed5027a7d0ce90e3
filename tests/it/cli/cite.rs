//! `dpgp cite`: what it prints can be read by BibTeX and says what `CITATION.cff` and the manifest say.

use std::collections::BTreeMap;

use crate::support::cli::Project;
use crate::support::shipped::root;

/// Entries by their keys, each with its fields; written from the grammar of BibTeX: braces balance, `name = {value},`.
fn parsed(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut entries = BTreeMap::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        rest = rest.strip_prefix('@').unwrap_or_else(|| panic!("no entry: {rest}"));
        let (kind, after) = rest.split_once('{').unwrap();
        assert!(["article", "misc", "software"].contains(&kind), "{kind}");
        let (key, after) = after.split_once(',').unwrap();
        let (mut fields, mut after) = (BTreeMap::new(), after.trim_start());
        while !after.starts_with('}') {
            let (name, value) = after.split_once('=').unwrap();
            let value = value.trim_start().strip_prefix('{').unwrap();
            let end = closing(value);
            assert!(fields.insert(name.trim().to_owned(), value[..end].to_owned()).is_none());
            after = value[end + 1..].trim_start().strip_prefix(',').unwrap().trim_start();
        }
        assert!(entries.insert(key.to_owned(), fields).is_none(), "{key} is there twice");
        rest = after[1..].trim_start();
    }
    entries
}

/// Where the brace closes that was open before the text.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("not closed: {text}")
}

#[test]
fn the_program_is_cited_as_its_citation_file_says() {
    let entries = parsed(&Project::empty().dpgp(&["cite"]).expect(0).out);
    let file = std::fs::read_to_string(root().join("CITATION.cff")).unwrap();
    let program = &entries["dpgp"];
    assert!(file.contains(&format!("title: \"{}\"", program["title"])), "{program:?}");
    assert!(file.contains(&format!("version: {}\n", program["version"])), "{program:?}");
    assert!(file.contains("name: The dpgp authors") && program["author"] == "{The dpgp authors}");
}

#[test]
fn every_experiment_cites_its_paper_and_its_data() {
    let project = Project::empty();
    let entries = parsed(&project.dpgp(&["cite", "smith2021/table1"]).expect(0).out);
    assert_eq!(entries.keys().map(String::as_str).collect::<Vec<_>>(), ["data-howell1", "dpgp", "smith2021"]);
    assert_eq!(entries["smith2021"]["author"], "Smith, Michael Thomas and Álvarez, Mauricio A. and Lawrence, Neil D.");
    assert_eq!(entries["smith2021"]["year"], "2021");
    assert!(entries["data-howell1"]["note"].contains("GPL-3"), "{entries:?}");
    let names = ["smith2016", "lawrence2017", "jalko2016", "honkela2021", "smith2021", "beyond"];
    let all = project.dpgp(&[&["cite"][..], &names].concat()).expect(0).out;
    let entries = parsed(&all);
    let file = std::fs::read_to_string(root().join("CITATION.cff")).unwrap();
    for name in names.iter().filter(|name| **name != "beyond") {
        let title = entries[*name]["title"].trim_matches(['{', '}']);
        // The talk is no reference of the file.
        assert!(*name == "lawrence2017" || file.contains(&format!("title: {title}\n")), "{title}");
    }
    assert_eq!(project.dpgp(&["cite", "--format", "json"]).expect(0).json()[0]["key"], "dpgp");
    project.dpgp(&["cite", "nobody2000"]).expect(2);
}

const SPEC: &str = r#"
experiment.title = "energy"
data = { source.csv.path = "rows.csv", inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0 }
model = { noise_variance = 9.0, kernel.eq = { variance = 100.0, lengthscale = 12.0 } }
task.regression = { split.shuffled = 2, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-9, change = 40.0, calibration = "analytic", mechanism.cloaking.objective = "risk" }
"#;

/// An entry for a registry says what the certificate says, leaves the rest to its publisher, and is none for a certificate that fails.
#[test]
fn a_release_is_registered() {
    let project = Project::new();
    project.write("spec.toml", SPEC);
    let rows: String = (0..60).map(|day| format!("{}.5,{}\n", day % 31, 10 + day % 7)).collect();
    project.write("rows.csv", &format!("temperature,kwh\n{rows}"));
    project.dpgp(&["predict", "spec.toml", "--grid", "temperature=0..30:4", "--out", "p.csv", "--quiet"]).expect(0);
    let register = ["cite", "--registry", "p.csv.certificate.json"];
    let yaml = project.dpgp(&register).expect(0).out;
    let certificate: serde_json::Value = serde_json::from_str(&project.read("p.csv.certificate.json")).unwrap();
    let field = |name: &str| {
        let found = yaml.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        serde_json::from_str::<serde_json::Value>(found.unwrap_or_else(|| panic!("no {name}: {yaml}"))).unwrap()
    };
    for (name, key) in [("epsilon", "epsilon"), ("delta", "delta"), ("mu", "mu"), ("mechanism", "guarantee")] {
        assert_eq!(field(name), certificate[key], "{name}");
    }
    assert!(yaml.contains("\ndelta: 1.0e-9\n"), "{yaml}");
    assert_eq!(field("released"), "predictions of kwh");
    assert_eq!(field("privacy_unit"), certificate["neighbours"]);
    assert_eq!(field("all_releases_of_these_data")["releases"], 1);
    assert_eq!((field("product"), field("justification")), ("".into(), "".into()));
    assert!(yaml.contains("not_covered:\n  - \""), "{yaml}");
    let json = project.dpgp(&[&register[..], &["--format", "json"]].concat()).expect(0).out;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["epsilon"], 1.0);

    let better = project.read("p.csv.certificate.json").replace("\"epsilon\": 1.0", "\"epsilon\": 0.5");
    project.write("better.json", &better);
    let said = project.dpgp(&["cite", "--registry", "better.json"]).expect(2).err;
    assert!(said.contains("better.json contains no guarantee that could be registered"), "{said}");
    project.dpgp(&["cite", "--registry", "rows.csv"]).expect(2);
}

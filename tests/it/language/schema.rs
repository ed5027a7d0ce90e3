//! The committed JSON Schemas are fresh, and every shipped file is valid under them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

use crate::support::cli::Project;
use crate::support::energy::{RECORDS, TARGETS, energy_project};
use crate::support::shipped::{root, shipped};
use crate::support::study::{SLOW_STUDY, STUDY};

/// A schema as the binary prints it, which must be the committed one.
fn fresh(of: &str, committed: &str) -> Value {
    let text = Project::new().dpgp(&["schema", of]).expect(0).out;
    assert_eq!(text, shipped(committed), "write {committed} anew");
    serde_json::from_str(&text).unwrap()
}

struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    fn new(schema: Value) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("schema.json", schema).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.check_value(&as_json(&toml::from_str(text).unwrap()))
    }

    fn check_value(&self, value: &Value) -> Result<(), String> {
        self.schemas.validate(value, self.index).map_err(|error| format!("{error:#}"))
    }
}

/// TOML as JSON; an infinite number becomes a large one.
fn as_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::Float(x) => Value::from(x.clamp(-1e300, 1e300)),
        toml::Value::Integer(n) => Value::from(*n),
        toml::Value::Boolean(b) => Value::from(*b),
        toml::Value::String(s) => Value::from(s.as_str()),
        toml::Value::Datetime(time) => Value::from(time.to_string()),
        toml::Value::Array(list) => list.iter().map(as_json).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.clone(), as_json(value))).collect())
        }
    }
}

fn specs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(specs(&path));
        } else if path.extension().is_some_and(|ending| ending == "toml")
            && !["coverage.toml", "page.toml"].iter().any(|name| path.ends_with(name))
        {
            found.push(path);
        }
    }
    found
}

/// The names of all keys below a schema.
fn keys<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        found.extend(properties.keys().map(String::as_str));
    }
    match schema {
        Value::Object(fields) => fields.values().for_each(|inner| keys(inner, found)),
        Value::Array(list) => list.iter().for_each(|inner| keys(inner, found)),
        _ => {}
    }
}

#[test]
fn the_reference_is_fresh_and_tells_every_key() {
    let page = Project::new().dpgp(&["schema", "spec", "--markdown"]).expect(0).out;
    let committed = shipped("docs/spec.md");
    assert_eq!(page, committed, "write docs/spec.md anew: dpgp schema spec --markdown > docs/spec.md");
    let untold: Vec<&str> = page.lines().filter(|row| row.starts_with("| `") && row.ends_with("|  |")).collect();
    assert!(untold.is_empty(), "keys without a doc comment: {untold:#?}");
    let schema = dpgp::spec::schema::<dpgp::task::TaskSetting>();
    let mut names = Vec::new();
    keys(&schema, &mut names);
    assert!(names.len() > 300, "{} keys", names.len());
    for name in names {
        assert!(page.contains(&format!("{name}` |")), "no row for {name}");
    }
}

#[test]
fn every_shipped_spec_is_valid() {
    let validator = Validator::new(fresh("spec", "experiments/spec.schema.json"));
    let shipped = specs(&root().join("experiments"));
    assert!(shipped.len() >= 3);
    for path in shipped {
        let valid = validator.check(&std::fs::read_to_string(&path).unwrap());
        assert!(valid.is_ok(), "{}: {}", path.display(), valid.unwrap_err());
    }
    let project = Project::empty();
    project.dpgp(&["new", "fresh"]).expect(0);
    for text in [STUDY, SLOW_STUDY, &project.read("fresh.toml")] {
        assert_eq!(validator.check(text), Ok(()));
    }
}

#[test]
fn mistakes_are_not_valid() {
    let validator = Validator::new(fresh("spec", "experiments/spec.schema.json"));
    let mistakes = [
        ("noise_variance", "noise_varience"),
        ("title = \"small\"", ""),
        ("kernel.eq", "kernel.rbf"),
        ("draws = 5", "draws = \"five\""),
        ("draws = 5", "draws = -5"),
        ("split.shuffled = 3", "split = { shuffled = 3, contiguous = 3 }"),
        ("objective = \"log-det\"", "objective = \"best\""),
        ("[grid]", "[gird]"),
        ("= [1.0, inf]", "= 1.0"),
    ];
    for (from, to) in mistakes {
        assert!(STUDY.contains(from), "{from}");
        assert!(validator.check(&STUDY.replace(from, to)).is_err(), "{to:?} was taken");
    }
    let incomplete = STUDY.replace(", lengthscale = 5.0", "");
    assert_eq!(validator.check(&incomplete), Ok(()), "the grid gives the lengthscale");
}

#[test]
fn the_manifest_of_the_datasets_is_valid() {
    let validator = Validator::new(fresh("datasets", "data/datasets.schema.json"));
    let text = std::fs::read_to_string(root().join("data/datasets.toml")).unwrap();
    assert_eq!(validator.check(&text), Ok(()));
    assert!(validator.check(&text.replace("licence", "license")).is_err());
    assert!(validator.check(&text.replacen("\nsha256 = ", "\nsha = ", 1)).is_err());
}

/// A schema that allows no key which it does not tell.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(closed);
            if fields.get("type").is_some_and(|kind| kind == "object") && fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(closed),
        _ => {}
    }
}

/// What a verb prints without one key.
fn without(value: &Value, verb: &str, name: &str) -> Value {
    let mut less = value.clone();
    let inner = less.get_mut(verb).unwrap();
    let object = if inner.is_array() { &mut inner[0] } else { inner };
    object.as_object_mut().unwrap().remove(name);
    less
}

/// What verbs print has the keys that their schema tells, all of them and no others, and so has the certificate of a release.
#[test]
fn what_verbs_print_is_as_their_schema_says() {
    let project = energy_project(TARGETS);
    let mut schema = project.dpgp(&["schema", "outputs"]).expect(0).json();
    let verbs: BTreeSet<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    closed(&mut schema);
    let validator = Validator::new(schema);
    let theirs = shipped("results/smith2021/toy/table.csv");
    project.write("theirs.csv", &theirs);
    project.write("records.toml", RECORDS);
    let mut outputs = "x\n".to_owned();
    (0..200).for_each(|i| outputs.push_str(&format!("{}\n", i % 7)));
    project.write("a.csv", &outputs);
    project.write("b.csv", &format!("x\n{}", (0..200).map(|i| format!("{}\n", i * i % 7)).collect::<String>()));
    let predict = ["predict", "energy.toml", "--at", "grid.csv", "--quiet"];
    let (out, map) = (["--out", "p.csv"], ["--out", "p.svg"]);
    let samples = ["audit", "--samples", "a.csv", "b.csv", "--epsilon", "1", "--delta", "0"];
    let commands: &[(&str, &[&str])] = &[
        ("run --shard", &["run", "energy.toml", "--quiet", "--shard", "1/2"]),
        ("run", &["run", "energy.toml", "--quiet"]),
        ("run", &["run", "energy.toml", "smith2021/toy", "--quiet"]),
        ("check", &["check", "energy.toml", "--quiet"]),
        ("plan", &["plan", "energy.toml"]),
        ("list", &["list"]),
        ("show", &["show", "smith2021/table1"]),
        ("show", &["show", "energy.toml"]),
        ("best", &["best", "houses"]),
        ("table", &["table", "beyond/leaderboard/houses"]),
        ("grade", &["grade", "theirs.csv", "--experiment", "smith2021/toy"]),
        ("cite", &["cite", "smith2021/table1"]),
        ("data list", &["data", "list"]),
        ("new", &["new", "--data", "energy.csv", "mine"]),
        ("predict", &predict),
        ("predict", &[&predict[..], &out].concat()),
        ("predict --preview", &[&predict[..], &["--preview", "--error", "5"]].concat()),
        ("account", &["account", "--delta", "1e-6", "--mu", "0.5"]),
        ("tradeoff", &["tradeoff", "energy.toml", "--at", "grid.csv", "--set", "model.kernel.eq.lengthscale=5,50"]),
        ("map", &[&["map", "p.csv"], &map[..]].concat()),
        ("verify", &["verify", "p.csv.certificate.json", "p.csv"]),
        ("ledger show", &["ledger", "show"]),
        ("ledger verify", &["ledger", "verify", "--released", "p.csv.certificate.json"]),
        ("collect", &["collect", "store"]),
        ("explain", &["explain", "energy.toml", "--seed", "7"]),
        ("report", &["report", "energy.toml", "--out", "r.html"]),
        ("diff", &["diff", "results", "results", "--all"]),
        ("emit", &["emit", "make", "energy.toml", "--shards", "2"]),
        ("generate", &["generate", "--rows", "3", "--out", "trips.csv"]),
        ("data folds", &["data", "folds", "energy.toml", "--out", "folds.csv"]),
        ("completions", &["completions", "bash"]),
        ("man", &["man"]),
        ("data fetch", &["data", "fetch", "census2011-ages"]),
        ("data verify", &["data", "verify", "census2011-ages"]),
        ("show", &["show", "smith2021/toy"]),
        ("audit", &["audit", "energy.toml", "--quiet"]),
        ("audit --end-to-end", &["audit", "--end-to-end", "energy.toml", "--at", "grid.csv"]),
        ("audit --samples", &samples),
        ("sum", &["sum", "records.toml", "energy.csv", "--out", "sums.json", "--quiet"]),
        ("sum", &["sum", "records.toml", "energy.csv", "--for-holder", "--timings", "--quiet"]),
    ];
    let mut checked = BTreeSet::new();
    for &(verb, command) in commands {
        let printed = project.dpgp(&[command, &["--format", "json"]].concat()).json();
        let value = json!({ verb: printed });
        assert_eq!(validator.check_value(&value), Ok(()), "{command:?}");
        checked.insert(verb.to_owned());
        // A key that is missing is an error, too.
        let object = if value[verb].is_array() { &value[verb][0] } else { &value[verb] };
        let names = object.as_object().unwrap().keys();
        let needed = names.filter(|name| validator.check_value(&without(&value, verb, name)).is_err());
        assert!(needed.count() > 0, "{verb} needs no key");
    }
    let certificate = "predict: FILE.certificate.json";
    assert_eq!(validator.check_value(&json!({ certificate: project.json("p.csv.certificate.json") })), Ok(()));
    checked.insert(certificate.to_owned());
    assert_eq!(checked, verbs, "a verb whose schema is told and not checked");
}

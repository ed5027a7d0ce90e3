//! `list`, `data` and `check` through the real binary.

use crate::support::cli::Project;
use crate::support::kung::mirror;

#[test]
fn list_shows_every_experiment_and_its_data() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["list"]).expect(0);
    let row = run.out.lines().find(|line| line.contains("smith2021/table1 ")).unwrap();
    for word in ["smith2021", "Table 1", "howell1", "12", "to be fetched"] {
        assert!(row.contains(word), "{word} is not in {row}");
    }
    assert!(run.out.contains("none needed"));
}

#[test]
fn data_list_names_every_dataset_and_the_unobtainable_one() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["data", "list"]).expect(0);
    for name in ["howell1", "hmeq", "abalone", "mnist", "fish", "census2011-ages", "citibike-201606", "house-prices"] {
        assert!(run.out.contains(name), "{name} is not in\n{}", run.out);
    }
}

#[test]
fn the_bundled_census_counts_verify_without_a_network() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["data", "verify", "census2011-ages"]).expect(0);
    assert!(run.out.contains("ages_E00172420.csv: ok"), "{}", run.out);
}

#[test]
fn a_missing_dataset_that_was_named_does_not_verify() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["data", "verify", "howell1"]).expect(3);
    assert!(run.out.contains(": missing"), "{}", run.out);
    let run = project.dpgp_without_mirror(&["data", "fetch", "howel1", "--offline"]).expect(2);
    assert!(run.err.contains("howell1"), "{}", run.err);
}

/// No file was hashed, so none is known to be right.
#[test]
fn to_verify_nothing_is_no_success() {
    let project = Project::with_manifest(
        &std::fs::read_to_string(crate::support::shipped::root().join("data/datasets.toml")).unwrap(),
    );
    let run = project.dpgp_without_mirror(&["data", "verify"]).expect(3);
    assert!(run.err.contains("no file was verified: none of "), "{}", run.err);
    let run = project.dpgp(&["data", "verify", "--mirror", "no/such/folder"]).expect(3);
    assert!(run.err.contains("the mirror no/such/folder is not a folder"), "{}", run.err);
    std::fs::create_dir(project.path("mirror")).unwrap();
    let run = project.dpgp(&["data", "verify", "--mirror", "mirror"]).expect(3);
    assert!(run.err.contains("no file was verified"), "{}", run.err);
}

#[test]
fn the_whole_mirror_verifies() {
    if mirror().is_none() {
        return;
    }
    let project = Project::new();
    let run = project.dpgp(&["data", "verify"]).expect(0);
    assert!(!run.out.contains("MISMATCH"), "{}", run.out);
    assert!(run.out.matches(": ok").count() >= 20, "{}", run.out);
}

#[test]
fn check_passes_on_fresh_results_and_names_what_moved() {
    let project = Project::new();
    project.dpgp(&["run", "smith2021/toy"]).expect(0);
    let run = project.dpgp(&["check", "smith2021/toy"]).expect(0);
    assert!(run.out.contains("smith2021/toy: passes"), "{}", run.out);
    let table = project.read("results/smith2021/toy/table.csv");
    project.write("results/smith2021/toy/table.csv", &table.replacen("1589.4", "1589.3", 1));
    let run = project.dpgp(&["check", "smith2021/toy"]).expect(1);
    assert!(run.out.contains("value was \"1589.3"), "{}", run.out);
    let run = project.dpgp(&["check", "smith2021/toy", "--results", "elsewhere"]).expect(1);
    assert!(run.out.contains("elsewhere"), "{}", run.out);
}

/// That a paper does not reproduce is committed, and no failure of a check.
#[test]
fn what_does_not_reproduce_is_told_and_passes() {
    let project = Project::new();
    let toy = std::fs::read_to_string(project.path("experiments/smith2021/toy.toml")).unwrap();
    let spec = toy.replace("is = \"above\"", "is = \"below\"").replace("1597.0", "1700.0");
    assert_ne!(toy, spec);
    project.write("toy.toml", &spec);
    let run = project.dpgp(&["run", "toy.toml", "--rows"]).expect(0);
    assert!(run.out.contains("FAILS (ours: ") && run.out.contains("differs"), "{}", run.out);
    project.dpgp(&["check", "toy.toml"]).expect(0);
    let claims = project.read("results/toy/claims.csv");
    assert!(claims.contains(",fails,"), "{claims}");
}

#[test]
fn json_is_json() {
    let project = Project::new();
    for arguments in [&["list"][..], &["data", "list"], &["run", "smith2021/toy"]] {
        project.dpgp(&[arguments, &["--format", "json"]].concat()).expect(0).json();
    }
}

/// An option that needs another one is refused where the other one cannot be given, and never ignored.
#[test]
fn no_option_is_ignored() {
    let project = Project::empty();
    for line in [
        "new a --from smith2021/toy --target b",
        "new a --from smith2021/toy --columns a,b",
        "new a --command --person p --rows-per-person 2",
        "new a --from-table t.csv --metrics rmse --count",
        "new a --data rows.csv --metrics rmse",
        "new a --data rows.csv --private-inputs --bins 4",
        "new a --data rows.csv --target b --relation replace-one",
        "audit smith2021/toy --at grid.csv",
        "audit smith2021/toy --rows rows.csv",
        "audit smith2021/toy --epsilon 1 --delta 0",
        "audit --all --first-line names",
        "predict s.toml --grid auto --preview --unit minutes",
        "predict --from r.json --grid auto --share a=1",
        "predict s.toml --grid auto --out p.csv --epsilons 1,2",
        "predict s.toml --grid auto --out p.csv --error 2",
        "predict --from r.json --grid auto --figure f.svg",
        "predict s.toml --grid auto --noise-variance 1",
        "predict s.toml --grid auto --inputs a --target b --noise sd=c",
        "predict --from r.json --grid auto --area-id name",
        "predict s.toml --grid auto --weights w",
        "sum s.toml rows.csv --shard 1/2 --out s.json --ledger l.toml",
        "sum s.toml rows.csv --shard 1/2 --out s.json --epsilon 2",
        "run smith2021/toy --shard 1/2 --why",
        "run smith2021/toy --rows --why",
    ] {
        let run = project.dpgp(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}");
        assert!(run.err.contains("cannot be used with"), "{line}: {}", run.err);
    }
    project.assert_nothing_left();
}

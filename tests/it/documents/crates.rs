//! The page on the architecture names every crate, and those that others may use stand without the product.

use std::collections::{BTreeMap, BTreeSet};

use toml::Table;

use crate::support::shipped::{root, shipped};

/// The crates that are for others, too.
const ALONE: [&str; 7] =
    ["dpgp-accounting", "dpgp-audit", "dpgp-cloaking", "dpgp-gp", "dpgp-linalg", "dpgp-noise", "dpgp-number"];

/// What those must not bring: readers of files, and the network.
const HEAVY: [&str; 4] = ["clap", "parquet", "polars", "reqwest"];

/// The dependencies of each crate, without those of its tests.
fn crates() -> BTreeMap<String, BTreeSet<String>> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap();
    let names = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());
    names
        .map(|name| {
            let manifest: Table = shipped(&format!("crates/{name}/Cargo.toml")).parse().unwrap();
            assert_eq!(manifest["package"]["name"].as_str(), Some(&*name));
            let needed = manifest.get("dependencies").and_then(|value| value.as_table());
            (name, needed.into_iter().flat_map(Table::keys).cloned().collect())
        })
        .collect()
}

#[test]
fn the_architecture_has_a_row_for_each_crate() {
    let page = shipped("docs/architecture.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `dpgp-")?.split('`').next());
    let told: BTreeSet<String> = rows.map(|name| format!("dpgp-{name}")).collect();
    assert_eq!(told, crates().into_keys().collect());
}

/// The crates of the diagram, line by line from the top.
fn diagram() -> Vec<String> {
    let page = shipped("docs/architecture.md");
    let block = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    block.split_whitespace().filter(|word| word.starts_with("dpgp-")).map(str::to_owned).collect()
}

/// The first crate that depends on one that does not come after it.
fn upward(order: &[String], crates: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let after = |place: usize, needed: &String| order[place + 1..].contains(needed);
    order.iter().enumerate().find_map(|(place, name)| {
        let ours = crates[name].iter().filter(|one| crates.contains_key(*one));
        let wrong = ours.into_iter().find(|needed| !after(place, needed))?;
        Some(format!("{name} needs {wrong}"))
    })
}

#[test]
fn the_diagram_has_each_crate_above_those_that_it_needs() {
    let (order, crates) = (diagram(), crates());
    assert_eq!(order.iter().cloned().collect::<BTreeSet<_>>(), crates.keys().cloned().collect());
    assert_eq!(order.len(), crates.len(), "a crate stands in the diagram twice");
    assert_eq!(upward(&order, &crates), None);
    let turned: Vec<String> = order.into_iter().rev().collect();
    assert!(upward(&turned, &crates).is_some(), "the check can fail");
}

#[test]
fn crates_for_others_need_no_product() {
    let crates = crates();
    for name in ALONE {
        let needed = &crates[name];
        let ours: Vec<&String> = needed.iter().filter(|one| one.starts_with("dpgp-")).collect();
        assert!(ours.iter().all(|one| ALONE.contains(&one.as_str())), "{name} needs {ours:?}");
        let heavy: Vec<&&str> = HEAVY.iter().filter(|one| needed.contains(**one)).collect();
        assert!(heavy.is_empty(), "{name} needs {heavy:?}");
    }
}

/// R repeats the number of rows from which on cells are summed, because it calls a command and no library.
#[test]
fn r_chooses_cells_as_the_library_does() {
    use dpgp::privacy::MomentFeatures;
    let fit = std::fs::read_to_string(root().join("r/R/dp_gp.R")).unwrap();
    let rule = fit.lines().find_map(|line| line.split_once("length(inputs) <= 2 && n_rows >= ")).unwrap();
    let fewest: usize = rule.1.trim().parse().unwrap();
    let (cells, waves) = (MomentFeatures::Cells, MomentFeatures::Waves);
    for (rows, per_person, inputs, expected) in [
        (fewest, 1, 2, cells),
        (fewest - 1, 1, 2, waves),
        (fewest, 1, 3, waves),
        (3 * fewest - 1, 3, 2, waves),
        (3 * fewest, 3, 2, cells),
    ] {
        assert_eq!(MomentFeatures::for_rows(rows, per_person, inputs), expected, "{rows} rows, {inputs} inputs");
    }
}

//! Names of users steer no terminal, no page and no spreadsheet.

use serde_json::Value;

use crate::support::cli::{Project, Run};
use crate::support::study::STUDY;

/// Clears a terminal.
const ESCAPE: &str = "\u{1b}[2J\u{9b}2J";

/// The same as a TOML string writes it.
const WRITTEN: &str = r"\u001b[2J\u009b2J";

/// A study whose title, paper, column, labels and note have this in them.
fn study(written: &str) -> String {
    let spec =
        STUDY.replace("\"small\"", &format!("\"{written}title\"\npaper = \"{written}\"\nartefact = \"{written}\""));
    let spec =
        spec.replace("{ x = [", &format!("{{ \"{written}x\" = [")).replace("[\"x\"]", &format!("[\"{written}x\"]"));
    let grid = format!("[axis.method.\"{written}a\"]\n[axis.method.b]\n\"privacy.epsilon\" = 2.0\n[grid]\n");
    let spec = spec.replace("[grid]\n", &grid).replace("\"privacy.epsilon\" = [1.0, inf]\n", "");
    format!(
        "{spec}[figure.lines]\nx = \"lengthscale\"\nlines = \"method\"\nx_label = \"{written}\"\nlabel = \"{written}\"\nmetric = \"rmse\"\n[deviation.inferred]\n\"{written}\" = \"{written}\"\n"
    )
}

fn assert_plain(text: &str, what: &str) {
    let control = text.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
    assert_eq!(control, None, "{what}: {text:?}");
}

fn ran(written: &str) -> (Project, Run) {
    let project = Project::empty();
    project.write("study.toml", &study(written));
    let run = project.dpgp(&["run", "study.toml", "--quiet"]).expect(0);
    (project, run)
}

#[test]
fn controls_are_spelled_out_in_all_that_is_written() {
    let (project, run) = ran(WRITTEN);
    assert_plain(&run.out, "terminal");
    assert_plain(&run.err, "terminal");
    assert!(run.out.contains(r"\u{1b}[2J\u{9b}2Jtitle"), "{}", run.out);
    for file in ["table.csv", "table.md", "figure.svg"] {
        let text = project.read(&format!("results/study/{file}"));
        assert_plain(&text, file);
        assert!(text.contains(r"\u{1b}[2J\u{9b}2J"), "{file}: {text}");
    }
    let printed = project.dpgp(&["run", "study.toml", "--quiet", "--format", "json"]).expect(0);
    assert_plain(&printed.out, "JSON");
    let labels: Vec<Value> =
        printed.json()["rows"].as_array().unwrap().iter().map(|row| row["labels"].clone()).collect();
    assert!(labels.iter().any(|label| label.to_string().contains("\\u001b") || label[1] == format!("{ESCAPE}a")));
    // Errors repeat what was written.
    project.write("wrong.toml", &format!("{}\"{WRITTEN}\" = 1\n", study(WRITTEN)));
    assert_plain(&project.dpgp(&["run", "wrong.toml"]).expect(2).err, "error");
    assert_plain(&project.dpgp(&["run", &format!("{ESCAPE}none.toml")]).expect(5).err, "error");
}

#[test]
fn lines_links_and_elements_stay_texts_in_markdown() {
    let (project, _) = ran(r"<img src=x>![a](b)\n# h");
    let text = project.read("results/study/table.md");
    assert!(!text.contains("<img") || !text.replace("\\<img", "").contains("<img"), "{text}");
    assert!(!text.contains("](") && !text.lines().any(|line| line.starts_with("# h")), "{text}");
}

/// A text that begins as a formula is a text; a number stays a number.
#[test]
fn tables_hold_no_formulas() {
    let (project, _) = ran("=1+1");
    let table = project.read("results/study/table.csv");
    assert!(table.contains(",'=1+1a,") && !table.contains(",=1+1"), "{table}");
    let names = ["=x", "-1", "plain"].map(|name| format!("\"{name}\" = [0, 1, 2, 3, 4, 5]"));
    let spec = format!(
        "experiment.title = \"t\"\n\
         [data]\ninputs = [\"=x\", \"-1\", \"plain\"]\ntarget = \"y\"\n[data.source.inline]\n{}\ny = [1, 3, 2, 5, 4, 6]\n\
         [normalise.bounds]\nlow = 0.0\nhigh = 8.0\n\
         [model]\nnoise_variance = 1.0\nkernel.eq = {{ variance = 9.0, lengthscale = 5.0 }}\n\
         [task.regression]\nsplit.shuffled = 3\ndraws = 5\n\
         [privacy]\nepsilon = 1.0\ndelta = 0.01\nchange = 8.0\ncalibration = \"analytic\"\n\
         mechanism.cloaking = {{ objective = \"trace\", rank_tolerance = 1e-8 }}\n",
        names.join("\n")
    );
    project.write("p.toml", &spec);
    project.write("grid.csv", "=x,-1,plain\n-1,2,3\n");
    let run = project.dpgp(&["predict", "p.toml", "--at", "grid.csv", "--no-ledger", "--quiet"]).expect(0);
    assert!(run.out.starts_with("'=x,-1,plain,private_mean,"), "{}", run.out);
    assert!(run.out.lines().nth(1).unwrap().starts_with("-1,2,3,"), "{}", run.out);
}

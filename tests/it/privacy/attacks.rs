//! Attacks on outputs, through the real binary: on mechanisms of known truth, and on files of outputs.

use crate::support::cli::{Project, Run};

/// A file with one column: `yes` so many times, then `no` so many times.
fn answers(project: &Project, name: &str, yes: usize, no: usize) {
    project.write(name, &format!("answer\n{}{}", "yes\n".repeat(yes), "no\n".repeat(no)));
}

/// Draws of whole numbers from a start on, evenly from 20,000, a row each, in their order.
fn numbers(project: &Project, name: &str, start: u64) {
    let mut draws = draws(start);
    draws.sort_unstable();
    let rows: Vec<String> = draws.into_iter().map(|x| format!("{}\n", x % 20_000 + start)).collect();
    project.write(name, &format!("y\n{}", rows.concat()));
}

/// 20,000 numbers of 31 bits by a generator of Park and Miller, each sequence with a start of its own.
fn draws(seed: u64) -> Vec<u64> {
    let next = |x: &u64| Some(x * 48_271 % 2_147_483_647);
    std::iter::successors(Some(seed + 12_345), next).skip(10).take(20_000).collect()
}

/// A file with these rows.
fn rows(project: &Project, name: &str, header: &str, rows: &[String]) {
    project.write(name, &format!("{header}\n{}\n", rows.join("\n")));
}

/// One file twice, its copy in any order, and files that have rows in common are no outputs of two inputs.
#[test]
fn rows_that_both_files_hold_are_refused() {
    let project = Project::empty();
    let all: Vec<String> = draws(7).into_iter().map(|x| format!("{:.3}", (x % 10_000) as f64 / 1000.0)).collect();
    let own: Vec<String> = draws(8).into_iter().map(|x| format!("{:.3}", (x % 10_000) as f64 / 1000.0)).collect();
    let (mut reversed, mut mixed) = (all[..4000].to_vec(), own[..4000].to_vec());
    reversed.reverse();
    mixed[..2000].clone_from_slice(&all[1000..3000]);
    rows(&project, "one.csv", "y", &all[..4000]);
    let run = project.dpgp(&["audit", "--samples", "one.csv", "one.csv", "--epsilon", "0.3", "--delta", "0"]).expect(2);
    assert!(run.err.contains("one.csv is named twice"), "{}", run.err);
    for shared in [&all[..4000], &reversed, &mixed] {
        rows(&project, "other.csv", "y", shared);
        let run = samples(&project, &["--epsilon", "0.3"]).expect(2);
        assert!(run.err.contains("share rows"), "{}", run.err);
    }
    rows(&project, "other.csv", "y", &own[..4000]);
    samples(&project, &["--epsilon", "0.3"]).expect(0);
}

/// Nanoseconds that differ by one, also beside a word for no output.
#[test]
fn long_whole_numbers_are_told_apart() {
    let project = Project::empty();
    let at = |last: u32| [vec![format!("170000000000000000{last}"); 300], vec!["late".to_owned(); 20]].concat();
    rows(&project, "one.csv", "y", &at(1));
    rows(&project, "other.csv", "y", &at(2));
    let run = samples(&project, &["--epsilon", "1"]).expect(1);
    assert!(run.out.contains("violated"), "{}", run.out);
    rows(&project, "one.csv", "y", &vec!["0.12345678901234567891".to_owned(); 150]);
    rows(&project, "other.csv", "y", &vec!["0.12345678901234567892".to_owned(); 150]);
    let run = samples(&project, &["--epsilon", "1"]).expect(0);
    assert!(run.out.contains("y: numbers that differ only beyond double precision"), "{}", run.out);
}

/// A file without a header loses no row in silence.
#[test]
fn a_first_line_of_numbers_is_asked_for() {
    let project = Project::empty();
    for (name, seed) in [("one.csv", 1), ("other.csv", 2)] {
        let numbers: Vec<String> = draws(seed)[..500].iter().map(u64::to_string).collect();
        rows(&project, name, "17", &numbers);
    }
    let run = samples(&project, &["--epsilon", "1"]).expect(2);
    assert!(run.err.contains("--first-line names or --first-line row"), "{}", run.err);
    for (what, count) in [("names", "500 outputs"), ("row", "501 outputs")] {
        let run = samples(&project, &["--epsilon", "1", "--first-line", what]).expect(0);
        assert_eq!(run.out.matches(count).count(), 2, "{}", run.out);
    }
}

fn samples(project: &Project, more: &[&str]) -> Run {
    project.dpgp(&[&["audit", "--samples", "one.csv", "other.csv", "--delta", "0"], more].concat())
}

/// Randomised response that tells the truth 9 times in 10 is ln 9 = 2.197-private, and no better.
#[test]
fn samples_refute_what_is_not_true() {
    let project = Project::empty();
    answers(&project, "one.csv", 18_000, 2_000);
    answers(&project, "other.csv", 2_000, 18_000);
    let run = samples(&project, &["--epsilon", "2"]).expect(1);
    assert!(run.out.contains("(2.0, 0.0): violated, with confidence 0.95"), "{}", run.out);
    assert!(run.err.contains("not (2.0, 0.0)-differentially private"), "{}", run.err);
    let run = samples(&project, &["--epsilon", "2.2", "--format", "json"]).expect(0);
    let found = run.json();
    let epsilon = found["epsilon_at_least"].as_f64().unwrap();
    assert!(epsilon > 2.05 && epsilon < 9f64.ln(), "{found:#}");
    assert_eq!((&found["verdict"], &found["rows"]), (&"nothing found".into(), &[20_000, 20_000].into()));
    assert!(found["epsilon_provable"].as_f64().unwrap() > 7.0, "{found:#}");
}

/// Delta at epsilon 0 is the difference of the probabilities of an answer, 0.8.
#[test]
fn samples_bound_delta() {
    let project = Project::empty();
    answers(&project, "one.csv", 18_000, 2_000);
    answers(&project, "other.csv", 2_000, 18_000);
    let run = samples(&project, &["--epsilon", "0", "--format", "json"]).expect(1);
    let delta = run.json()["delta_at_least"].as_f64().unwrap();
    assert!(delta > 0.77 && delta < 0.8, "{delta}");
}

/// Outputs of one law prove nothing, whatever their order: a file that is sorted is shuffled first.
#[test]
fn the_order_of_rows_proves_nothing() {
    let project = Project::empty();
    numbers(&project, "one.csv", 0);
    // Shifted by a hundredth of their range: the truth at a delta of 0.02 is epsilon 0.
    numbers(&project, "other.csv", 200);
    let claim = ["audit", "--samples", "one.csv", "other.csv", "--epsilon", "0", "--delta", "0.02"];
    let run = project.dpgp(&claim).expect(0);
    assert!(run.out.contains("nothing found"), "{}", run.out);
    for seed in ["2", "3", "4"] {
        project.dpgp(&[&claim[..], &["--seed", seed]].concat()).expect(0);
    }
}

/// Two answers with one noise: words beside numbers, and a difference that is exact.
#[test]
fn columns_are_taken_together() {
    let project = Project::empty();
    for (name, gap) in [("one.csv", 0.0), ("other.csv", 1.0)] {
        let noise = (0..4000).map(|i| f64::from(i) / 400.0 - 5.0);
        let rows: Vec<String> = noise.map(|n| format!("{n},{},done\n", n + gap)).collect();
        project.write(name, &format!("first,second,state\n{}", rows.concat()));
    }
    let run = samples(&project, &["--epsilon", "1"]).expect(1);
    assert!(run.out.contains("columns: first, second, state"), "{}", run.out);
    assert!(run.out.contains("from the outputs with column 2 minus column 1"), "{}", run.out);
}

#[test]
fn files_that_are_no_samples_are_refused() {
    let project = Project::empty();
    answers(&project, "one.csv", 60, 60);
    let refused = |code, words: &str| {
        let run = samples(&project, &["--epsilon", "1"]).expect(code);
        assert!(run.err.contains(words) && run.out.is_empty(), "{}", run.err);
    };
    refused(3, "other.csv");
    project.write("other.csv", "other\n1\n");
    refused(2, "other.csv has 1 rows; an attack needs at least 100");
    project.write("other.csv", &format!("other\n{}", "1\n".repeat(100)));
    refused(2, "one.csv has the columns answer, but other.csv has other");
    project.write("other.csv", "answer,answer\n1,2\n");
    refused(2, "occurs twice");
    project.write("other.csv", "answer\n1,2\n");
    refused(2, "line 2 has 2 cells");
}

#[test]
fn claims_and_kinds_of_audits_do_not_mix() {
    let project = Project::empty();
    let claim = ["--epsilon", "1", "--delta", "0"];
    for wrong in [
        &["--samples", "a.csv", "b.csv"][..],
        &["--samples", "a.csv", "--epsilon", "1", "--delta", "0"],
        &["--samples", "a.csv", "b.csv", "--epsilon", "-1", "--delta", "0"],
        &["--samples", "a.csv", "b.csv", "--epsilon", "inf", "--delta", "0"],
        &["--samples", "a.csv", "b.csv", "--epsilon", "1", "--delta", "1"],
        &["smith2021", "--epsilon", "1"],
        &[],
    ] {
        project.dpgp(&[&["audit"], wrong].concat()).expect(2);
    }
    project.dpgp(&[&["audit", "a.toml", "--samples", "a.csv", "b.csv"], &claim[..]].concat()).expect(2);
}

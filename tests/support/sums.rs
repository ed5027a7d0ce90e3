//! Sums over files of rows.

use super::cli::{Project, Run};

/// Sums the rows of `STEM.parquet` and `STEM.csv` by the spec `s.toml`: on one thread (`one.json`), on two, from text
/// (`text.json`), and in three shards of each file that are added. All are the same to the last bit.
/// Returns the first run, which shows how long it took.
pub fn assert_same_sums(project: &Project, stem: &str) -> Run {
    let (binary, text) = (format!("{stem}.parquet"), format!("{stem}.csv"));
    let first = stats(project, &[&binary, "--jobs", "1", "--timings", "--out", "one.json"]);
    stats(project, &[&binary, "--jobs", "2", "--out", "two.json"]);
    assert_eq!(project.read("two.json"), project.read("one.json"));
    stats(project, &[&text, "--jobs", "2", "--out", "text.json"]);
    assert_eq!(project.json("text.json")["part"], project.json("one.json")["part"]);
    for (file, whole) in [(&text, "text.json"), (&binary, "one.json")] {
        for (shard, out) in [("1/3", "part1.json"), ("2/3", "part2.json"), ("3/3", "part3.json")] {
            project.remove(out);
            stats(project, &[file, "--shard", shard, "--out", out]);
        }
        project.remove("sum.json");
        stats(project, &["--add", "part3.json", "part1.json", "part2.json", "--out", "sum.json"]);
        assert_eq!(project.read("sum.json"), project.read(whole), "{file}");
    }
    first
}

fn stats(project: &Project, arguments: &[&str]) -> Run {
    project.dpgp(&[&["stats", "s.toml"], arguments].concat()).expect(0)
}

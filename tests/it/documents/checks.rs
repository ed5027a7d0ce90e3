//! The page of the checks of our program counts what stands in the tables, no more: an experiment and its results made up by hand, each number
//! of the page counted by hand.

use std::fs;
use std::path::Path;

use dpgp::data::DatasetManifest;
use dpgp::publish::checks_markdown;
use dpgp::spec::PaperCoverage;
use dpgp::task::Experiment;

use super::reproduction::SPEC;

/// What the made-up experiment has beyond that of the page for readers.
const MORE: &str = r#"[published.values]
all = { metric = "rmse", precision = 0.1, source = "Table 9" }
columns = ["method", "value"]
rows = [["b", 4.0]]
[published.fitted]
all = { metric = "rmse", precision = 0.1, source = "Table 9", fitted = "chosen so" }
columns = ["method", "value"]
rows = [["a", 3.0]]
[deviation.stand-in]
data = "Other rows."
[deviation.inferred]
split = "Halves."
[deviation.difference]
numbers = "Nobody knows."
"#;

/// Of a table: what is not said of a row is empty.
struct TableRow {
    /// Method, epsilon, metric, published, spread, verdict, verdict of the spread.
    printed: [&'static str; 7],
    /// Claimed delta, exact delta, both ends of the interval, p-value.
    ours: [&'static str; 5],
}

/// Each row is of its own case but the first two, which stand side by side.
const ROWS: [TableRow; 11] = [
    // The number of b lies in the interval of a, but not the other way round.
    TableRow {
        printed: ["a", "1", "rmse", "3", "1", "differs", "agrees"],
        ours: ["0.01", "0.01", "3.5", "4.5", "0.01"],
    },
    TableRow {
        printed: ["b", "1", "rmse", "4", "2", "agrees", "differs"],
        ours: ["0.01", "0.02", "3.9", "4.1", "0.5"],
    },
    TableRow { printed: ["a", "1", "nlpd", "5", "", "agrees", ""], ours: ["0.01", "", "0", "9", "0.6"] },
    TableRow { printed: ["a", "inf", "r2", "6", "3", "inconclusive", ""], ours: ["", "", "", "", "0.7"] },
    TableRow { printed: ["b", "", "mae", "1", "", "stand-in", ""], ours: ["0.01", "0.001", "", "", "0.05"] },
    TableRow {
        printed: ["b", "1", "sd", "1.25", "", "differs", ""],
        ours: ["0.01", "0.01000000001", "0.33333333333333331", "1", ""],
    },
    TableRow { printed: ["b", "1", "m1", "1", "", "differs", ""], ours: ["", "", "0", "x", ""] },
    TableRow { printed: ["b", "1", "m2", "1", "", "differs", ""], ours: ["", "", "0", "0.5", ""] },
    TableRow { printed: ["b", "1", "m3", "1", "", "differs", ""], ours: ["", "", "0", "0.5", ""] },
    TableRow { printed: ["b", "1", "m4", "1", "", "differs", ""], ours: ["", "", "0", "0.5", ""] },
    TableRow { printed: ["b", "1", "m5", "1", "", "differs", ""], ours: ["", "", "0", "0.5", ""] },
];

const CLAIMS: &str = "from,place,quote,text,outcome,left,right,error
paper,Page 1,q1,a is less,holds,1.0,2.0,0.1
paper,Page 2,q2,b is less,fails,3.0,2.0,0.0
paper,Page 3,q3,c is less,undecided,1.5,1.25,0.5
paper,Page 4,q4,nothing is there,fails,,,
ours,,,d is less,holds,1.0,2.0,0.1
ours,,,e is less,fails,1.0,2.0,0.1
";

const COVERAGE: &str = "
paper = 'paper'
reference = 'Nobody 2020'
[[item]]
place = 'Table 9'
what = 'errors'
numbers = 20
statements = 9
checked = ['paper/made-up']
[[item]]
place = 'Table 10'
what = 'times'
numbers = 3
why_not = 'Nobody says of which machine.'
";

/// Of a second experiment, on the paper's data: exactly as many numbers differ as are told, one is fitted, nothing is private.
const PLAIN: &str =
    "method,epsilon,metric,published,published_spread,verdict,delta,delta_exact,interval_low,interval_high,p_value
a,inf,m1,1,,differs,,,0,0.5,0.2
a,inf,m2,1,,differs,,,0,0.5,0.3
a,inf,m3,1,,differs,,,0,0.5,0.4
a,inf,m4,1,,differs,,,0,0.5,0.8
a,inf,m5,1,,differs,,,0,0.5,0.9
a,inf,m6,1,,differs,,,0,0.5,
a,inf,m7,1,,fitted,,,0,1.5,
";

fn table() -> String {
    let mut text =
        "method,epsilon,metric,published,published_spread,verdict,spread_verdict,delta,delta_exact,interval_low,\
                    interval_high,p_value,authors,authors_verdict,reference,reference_verdict\n"
            .to_owned();
    for (place, row) in ROWS.iter().enumerate() {
        let others = match place {
            0 => "7,differs,,",
            1 => "7,agrees,8,differs",
            2 => ",,9,agrees",
            _ => ",,,",
        };
        text.push_str(&format!("{},{},{others}\n", row.printed.join(","), row.ours.join(",")));
    }
    text
}

fn page() -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, table) in [("made-up", table()), ("plain", PLAIN.to_owned())] {
        let results = folder.path().join("paper").join(name);
        fs::create_dir_all(&results).unwrap();
        fs::write(results.join("table.csv"), table).unwrap();
    }
    fs::write(folder.path().join("paper/made-up/claims.csv"), CLAIMS).unwrap();
    let manifest = DatasetManifest::load_shipped().unwrap();
    let spec = format!("{SPEC}{MORE}");
    let on_its_data = &spec[..spec.find("[deviation.stand-in]").unwrap()];
    let specs = [("paper/made-up", &*spec), ("paper/plain", on_its_data), ("paper/not-run", &spec)];
    let experiments = specs
        .map(|(name, spec)| Experiment::parse(name, Path::new("made-up.toml"), spec.to_owned(), &manifest).unwrap());
    let coverage: PaperCoverage = toml::from_str(COVERAGE).unwrap();
    checks_markdown(folder.path(), &experiments, &[coverage]).unwrap()
}

#[test]
fn a_paper_has_all_its_printed_numbers_and_statements_in_one_line() {
    // Of 23 numbers 11 + 7 are entered, and three spreads: 3 agree (two values, one spread), 7 + 1 + 6 differ, 1 is inconclusive, 1 spread
    // is not judged, 1 is fitted, 1 has a stand-in. A setting was chosen by one number of each experiment. Of 9 statements 4 are entered.
    let line = "| paper | 23 | 3 | 14 | 1 | 1 | 1 | 1 | 2 | 3 | 9 | 1 | 2 | 1 | 0 | 5 |\n";
    assert!(page().contains(line), "{}", page());
}

#[test]
fn an_experiment_has_counts_of_each_owner_power_and_guarantees_in_one_line() {
    let page = page();
    // 3 agree, 8 differ, 3 else. Of the two rows that have another method beside them, one would agree by the other's number. Of the rows
    // with a finite epsilon, two are within (a billionth is rounding), one exceeds, and of six nothing is known.
    let line = "| [paper/made-up](paper/made-up/table.md) | Table 9 | 11 | 3 / 8 / 3 | 1 / 1 / 0 | 1 / 1 / 0 | 1 / 2 / 1 | 1 / 1 / 0 | 1 of 2 | 2 / 1 / 6 |\n";
    assert!(page.contains(line), "{page}");
    let plain = "| [paper/plain](paper/plain/table.md) | Table 9 | 7 | 0 / 6 / 1 |  |  |  |  |  |  |\n";
    assert!(page.contains(plain), "{page}");
    assert!(page.contains("| paper/not-run | Table 9 | not run | | | | | | | |\n"), "{page}");
}

#[test]
fn where_others_disagree_is_told_with_its_numbers() {
    let page = page();
    let section = "### paper

[paper/made-up](paper/made-up/table.md): Made up (on data other than the paper's)

- method = a, epsilon = 1, rmse: the authors' files (not the paper) say 7; our interval for a single run is 3.500 to 4.500.
- method = b, epsilon = 1, rmse: our own reference (not in the paper) is 8; our interval for a single run is 3.900 to 4.100.
- 1 of 2 printed spreads differ from those of our runs (first: method = b, epsilon = 1, rmse).
- Page 2: “q2” fails (ours: 3.000 against 2.000): b is less.
- Page 3: “q3” is undecided (ours: 1.500 against 1.250, standard error 0.5000): c is less.
- Page 4: “q4” fails: nothing is there.
- Reason (numbers): Nobody knows.


## ";
    assert!(page.contains(section), "{page}");
}

#[test]
fn what_is_not_checked_is_told_with_its_reason() {
    let page = page();
    let section = "## Not checked, and why\n\n- paper, Table 10 (times): Nobody says of which machine.\n\n## ";
    assert!(page.contains(section), "{page}");
}

/// Of ten p-values two are at most a twentieth; of two experiments with five each the first is named.
#[test]
fn how_much_may_be_chance_is_told_with_the_number_of_p_values() {
    let page = page();
    let numbers = "- paper: 10 printed numbers can be compared with results of ours that vary between replicates";
    assert!(page.contains(numbers), "{page}");
    assert!(page.contains("(5 of them in paper/made-up). 20 % of them lie outside the central 95 %"), "{page}");
    // D is the largest of p - (i - 1)/10 and i/10 - p over .01, .05, .2, .3, .4, .5, .6, .7, .8, .9: 2/10 - .05 = .15.
    assert!(page.contains("(D = 0.15)."), "{page}");
    // x = (sqrt 10 + .12 + .11 / sqrt 10) .15 = .4976; 2 (exp(-2 x^2) - exp(-8 x^2) + exp(-18 x^2) - ..)
    // = 2 (.60950 - .13800 + .01160 - .00036) = .9655.
    assert!(page.contains("would give p = 0.97 "), "{page}");
}

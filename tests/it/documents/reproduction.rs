//! What readers of a paper are told follows from the tables: five verdicts, and numbers that are counted apart.

use std::fs;
use std::path::Path;

use dpgp::data::DatasetManifest;
use dpgp::publish::{CommittedResults, PaperFindings, ReproductionVerdict, collect_findings, reproduction_markdown};
use dpgp::run::{DataLocations, Project};
use dpgp::spec::{PaperCoverage, PaperReportPage};
use dpgp::task::Experiment;

use crate::support::shipped::root;

/// A made-up experiment, which other pages count, too.
pub const SPEC: &str = r#"
[experiment]
title = "Made up"
paper = "paper"
artefact = "Table 9"
[data]
source.inline = { x = [0.0, 1.0, 2.0, 3.0], y = [0.0, 0.5, 1.0, 2.0] }
inputs = ["x"]
target = "y"
[model]
noise_variance = 1.0
kernel.eq = { variance = 1.0, lengthscale = 2.0 }
[task.regression]
split.contiguous = 2
draws = 3
[privacy]
epsilon = 1.0
delta = 0.01
change = 2.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
[axis.method]
a = { "model.noise_variance" = 1.0 }
b = { "model.noise_variance" = 2.0 }
"#;

/// Of method a: a number that agrees, one that was fitted, with its spread, one outside, a zero; of b one of other data and one that nothing
/// is told of.
const TABLE: &str = "\
method,epsilon,metric,value,spread,published,published_spread,verdict,spread_verdict,ratio_to_print
a,1,rmse,13.25,0.5,13.3,,agrees,,0.996
a,1,fitted,2,0.1,2.1,0.3,fitted,agrees,0.95
a,1,outside,9,,4,,differs,,2.25
a,1,p/1,0,,0,,agrees,,
b,1,rmse,5,,8,,stand-in,,0.6
b,1,open,5,,8,,inconclusive,,0.6
";

const CLAIMS: &str = "from,place,quote,text,outcome,left,right,error
paper,Page 1,one is less,a is less,holds,1.0,2.0,0.1
paper,Page 2,two is less,b is less,fails,3.0,2.0,0.0
paper,Page 3,three is less,c is less,undecided,1.5,1.25,0.5
paper,Page 4,four is less,d is less,stand-in,1.5,1.25,0.5
";

const COVERAGE: &str = "
paper = 'paper'
reference = 'Nobody 2020'
[[item]]
place = 'Table 9'
what = 'errors'
numbers = 9
checked = ['paper/made-up']
";

fn told(row: &str) -> PaperFindings {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("paper/made-up");
    fs::create_dir_all(&results).unwrap();
    fs::write(results.join("table.csv"), TABLE).unwrap();
    fs::write(results.join("claims.csv"), CLAIMS).unwrap();
    let manifest = DatasetManifest::load_shipped().unwrap();
    let spec = Experiment::parse("paper/made-up", Path::new("made-up.toml"), SPEC.to_owned(), &manifest);
    let coverage: PaperCoverage = toml::from_str(COVERAGE).unwrap();
    let page = format!(
        "paper = 'paper'\nsentence = 'It is made up.'\n[[row]]\nplace = 'Table 9'\nsays = 'it'\nexperiment = 'paper/made-up'\n{row}"
    );
    let page: PaperReportPage = toml::from_str(&page).unwrap();
    collect_findings(folder.path(), &[spec.unwrap()], &[coverage], &[page]).unwrap().remove(0)
}

fn verdict(row: &str) -> ReproductionVerdict {
    told(row).rows[0].verdict.clone()
}

#[test]
fn each_of_the_five_verdicts_follows_from_the_table() {
    let because = "because = 'of that'\n";
    for (row, expected) in [
        ("numbers = [{ metric = 'rmse', cells = { method = 'a' } }]", ReproductionVerdict::Same),
        ("numbers = [{ metric = 'fitted' }]", ReproductionVerdict::SameWithSettings),
        ("numbers = [{ metric = 'fitted', spreads = true }]", ReproductionVerdict::Same),
        (
            "numbers = [{ metric = 'rmse', cells = { method = 'a' } }]\nchosen = 'x'",
            ReproductionVerdict::SameWithSettings,
        ),
        ("claims = [{ quote = 'one is' }]", ReproductionVerdict::Same),
        ("numbers = [{ metric = 'outside' }]\ntried = 'all'", ReproductionVerdict::Unknown("all".to_owned())),
        ("claims = [{ quote = 'three' }]\nuntold = 'chance'", ReproductionVerdict::Untold("chance".to_owned())),
        ("claims = [{ quote = 'four' }]\nuntold = 'other data'", ReproductionVerdict::Untold("other data".to_owned())),
        ("numbers = [{ metric = 'open' }]\nuntold = 'wide'", ReproductionVerdict::Untold("wide".to_owned())),
        ("untold = 'no number'", ReproductionVerdict::Untold("no number".to_owned())),
    ] {
        assert_eq!(verdict(row), expected, "{row}");
    }
    // Where nothing but chance, or what is not printed, makes it differ.
    let untold = ReproductionVerdict::Untold("chance".to_owned());
    assert_eq!(verdict("numbers = [{ metric = 'outside' }]\nuntold = 'chance'"), untold);
    for row in ["numbers = [{ metric = 'outside' }]", "claims = [{ quote = 'two' }, { quote = 'one' }]"] {
        let row = format!("{row}\n{because}");
        assert_eq!(verdict(&row), ReproductionVerdict::Different("of that".to_owned()), "{row}");
    }
    // One of other data decides for all.
    assert!(matches!(verdict("numbers = [{ metric = 'rmse' }]"), ReproductionVerdict::Untold(_)));
}

/// Nine are printed, seven entered: of these one is a zero, one the spread of a fitted mean.
#[test]
fn zeros_and_spreads_of_fitted_means_are_counted_apart() {
    let row = "numbers = [{ metric = 'outside' }]\nbecause = 'of that'";
    let page = reproduction_markdown(&[told(row)]);
    assert!(page.contains("|paper|9|7|1|1|1|0|2|1 (1)|1|0|\n"), "{page}");
    assert!(page.contains("- [paper](#paper): It is made up.\n"), "{page}");
    let line = "|[Table 9](paper/made-up/table.md)|it|9.000|yes|no|**different**: because of that|\n";
    assert!(page.contains(line), "{page}");
    // Outside of any place with a reason it is unknown.
    assert!(reproduction_markdown(&[told("")]).contains("|paper|9|7|1|1|0|1|2|1 (1)|1|0|\n"));
}

#[test]
fn ours_is_told_in_words_with_numbers_of_the_table() {
    let row = "ours = '{one} of {all}'\n[row.values]\none = { metric = 'rmse', cells = { method = 'a' }, decimals = 1 }\n\
               all = { metric = 'fitted', column = 'spread' }\n";
    let row = told(row).rows.remove(0);
    assert_eq!(row.ours, "13.2 of 0.1000");
    let made = |row: &str| told(row).rows.remove(0).ours;
    assert_eq!(made("numbers = [{ metric = 'rmse', cells = { method = 'a' } }]"), "13.25 ± 0.5000");
    assert_eq!(made("numbers = [{ metric = 'p/*' }]"), "1 of 1 zeros");
    assert_eq!(made("claims = [{ quote = 'is less' }]"), "1 of 4 tests hold");
    assert_eq!(made("claims = [{ quote = 'two' }]"), "3.000 against 2.000");
    let three = "numbers = [{ cells = { method = 'a' } }]";
    assert_eq!(made(three), "2 of 3 inside 95 % intervals; ours / print 0.95 to 2.25, median 1.00; 1 of 1 zeros");
}

/// What is told by the committed results; none while some of a paper are of another version of their spec, which `dpgp check --all` finds.
fn shipped() -> Option<(Vec<PaperFindings>, Vec<Experiment>)> {
    let project = Project::open_at(root(), &DataLocations::default()).unwrap();
    let (results, experiments) = (root().join("results"), project.experiments().unwrap());
    let of_papers = experiments.iter().filter(|one| one.meta.paper.is_some());
    for experiment in of_papers {
        let committed = CommittedResults::read(&results.join(experiment.relative_results_folder())).unwrap();
        if committed.is_none_or(|committed| committed.is_stale(experiment)) {
            return None;
        }
    }
    let (coverage, pages) = (project.coverage().unwrap(), project.pages().unwrap());
    Some((collect_findings(&results, &experiments, &coverage, &pages).unwrap(), experiments))
}

/// The most words of the page, and of reasons that nobody knows.
const MOST_WORDS: usize = 2_500;
const MOST_UNKNOWN: usize = 6;

#[test]
fn the_page_is_short_and_says_what_was_tried() {
    let Some((papers, _)) = shipped() else { return };
    let page = reproduction_markdown(&papers);
    let words = page.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
    assert!(words <= MOST_WORDS, "{words} words");
    let rows: Vec<_> = papers.iter().flat_map(|paper| &paper.rows).collect();
    let unknown: Vec<_> = rows.iter().filter(|row| matches!(row.verdict, ReproductionVerdict::Unknown(_))).collect();
    assert!(unknown.len() <= MOST_UNKNOWN, "{unknown:?}");
    for row in unknown {
        assert!(!row.words.contains("nothing yet"), "{row:?}");
    }
    for row in rows {
        assert!(!row.ours.contains(['?', '{']), "{row:?}");
        assert!(!row.words.contains("our results leave it open"), "{row:?}");
    }
}

/// Every printed number and every test of a statement stands in some row.
#[test]
fn every_printed_number_and_statement_has_a_row() {
    let Some((papers, experiments)) = shipped() else { return };
    let project = Project::open_at(root(), &DataLocations::default()).unwrap();
    let pages = project.pages().unwrap();
    for (page, paper) in pages.iter().zip(&papers) {
        let numbers: usize = paper.rows.iter().map(|row| row.numbers.len()).sum();
        assert_eq!(numbers, paper.tally.entered, "{}: numbers in rows, and entered", paper.key);
        let own = experiments.iter().filter(|one| one.meta.paper.as_deref() == Some(&page.paper));
        for claim in own.flat_map(|one| &one.claims).filter(|claim| !claim.quote.is_empty()) {
            let chosen = page.rows.iter().flat_map(|row| &row.claims);
            let mut chosen = chosen.filter(|one| claim.quote.contains(&one.quote) && claim.text.contains(&one.text));
            assert!(chosen.next().is_some(), "{}: {} {}", page.paper, claim.quote, claim.text);
        }
    }
}

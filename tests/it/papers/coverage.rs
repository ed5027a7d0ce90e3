//! What is said to be checked of each paper is checked, and nothing else is entered.

use std::collections::BTreeSet;

use dpgp::run::{DataLocations, Project};
use dpgp::spec::{ClaimOwner, PaperCoverage, PaperPart, ReferenceValueOwner};
use dpgp::task::Experiment;

use crate::support::shipped::root;

/// What is entered of a part of a paper.
#[derive(Debug, Default)]
struct Entered {
    numbers: usize,
    statements: usize,
}

impl Entered {
    /// Printed numbers, a value and its spread being two, and statements of the experiments that check a part.
    fn new(item: &PaperPart, experiments: &[Experiment]) -> Self {
        let mut entered = Self::default();
        for experiment in experiments.iter().filter(|one| item.checked.contains(&one.name)) {
            let numbers = experiment.counterparts.iter().filter(|one| one.owner == ReferenceValueOwner::Paper);
            let numbers = numbers.filter(|one| item.contains_place(&one.source));
            entered.numbers += numbers.map(|one| 1 + usize::from(one.spread.is_some())).sum::<usize>();
            entered.statements += experiment.claims.iter().filter(|claim| item.contains_place(&claim.place)).count();
        }
        entered
    }
}

struct Paper {
    coverage: PaperCoverage,
    experiments: Vec<Experiment>,
}

fn papers() -> Vec<Paper> {
    let project = Project::open_at(root(), &DataLocations::default()).unwrap();
    let experiments = project.experiments().unwrap();
    let mut papers = Vec::new();
    for coverage in project.coverage().unwrap() {
        let own = experiments.iter().filter(|one| one.meta.paper.as_deref() == Some(&coverage.paper));
        papers.push(Paper { experiments: own.cloned().collect(), coverage });
    }
    papers
}

#[test]
fn all_five_works_have_a_page_of_coverage() {
    let names: Vec<String> = papers().into_iter().map(|paper| paper.coverage.paper).collect();
    assert_eq!(names, ["honkela2021", "jalko2016", "lawrence2017", "smith2016", "smith2021"]);
}

/// A part is checked whole, or says why not.
#[test]
fn what_is_counted_is_entered() {
    for Paper { coverage, experiments } in papers() {
        let names: BTreeSet<&str> = experiments.iter().map(|one| one.name.as_str()).collect();
        for item in &coverage.items {
            let place = format!("{}: {}", coverage.paper, item.place);
            for name in &item.checked {
                assert!(names.contains(name.as_str()), "{place}: there is no experiment {name}");
            }
            let found = Entered::new(item, &experiments);
            assert!(found.numbers <= item.numbers, "{place}: {found:?} of {} numbers", item.numbers);
            assert!(found.statements <= item.statements, "{place}: {found:?} of {} statements", item.statements);
            let whole = found.numbers == item.numbers && found.statements == item.statements;
            assert!(whole || item.why_not.is_some(), "{place}: {found:?} of {item:?}");
        }
    }
}

/// Every number and sentence of a paper stands in one part of it.
#[test]
fn what_is_entered_is_counted() {
    for Paper { coverage, experiments } in papers() {
        for experiment in &experiments {
            let numbers = experiment.counterparts.iter().filter(|one| one.owner == ReferenceValueOwner::Paper);
            let claims = experiment.claims.iter().filter(|one| one.from == ClaimOwner::Paper);
            for place in numbers.map(|one| &one.source).chain(claims.map(|one| &one.place)) {
                let parts = coverage.items.iter().filter(|item| is_part(item, place, &experiment.name));
                assert_eq!(parts.count(), 1, "{}: {place:?}", experiment.name);
            }
        }
    }
}

fn is_part(item: &PaperPart, place: &str, experiment: &str) -> bool {
    item.contains_place(place) && item.checked.iter().any(|name| name == experiment)
}

/// A tolerance by hand is for readings and for what is not random.
#[test]
fn random_numbers_have_no_tolerance() {
    for Paper { experiments, .. } in papers() {
        for experiment in experiments.iter().filter(|one| one.meta.replicates > 1) {
            for one in &experiment.counterparts {
                let read = one.read == dpgp::spec::ReadingMethod::Figure;
                let by_hand = one.tolerance.is_some() && !read && one.owner == ReferenceValueOwner::Paper;
                assert!(!by_hand, "{}: {} {}", experiment.name, one.metric, one.source);
            }
        }
    }
}

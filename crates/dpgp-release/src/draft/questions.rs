//! Questions about the places that a template leaves to fill in.

use std::ops::Range;

use super::rules::{DefaultAnswer, DerivationRule, parse_range_fraction};

/// Numbers that belong together: one, or both ends of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecQuestion {
    /// Their places in the text.
    pub(super) places: Vec<Range<usize>>,
    /// Their line numbers, from 1.
    pub(super) lines: Vec<usize>,
    /// The key, and the entry of its list.
    pub key: String,
    /// The text of the comment beside it.
    pub about: String,
    /// Whether to ask for the square root of the number, in units of the target.
    pub(super) is_squared: bool,
    pub(super) source: AnswerSource,
}

/// Sources of the numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AnswerSource {
    /// The user, with this value for an empty answer.
    Proposed(DefaultAnswer),
    /// Computed from other answers.
    Derived(DerivationRule),
}

/// The beginning of the comment beside a variance.
const SQUARE: &str = "square of ";
const OPEN: &str = "nan";
/// The line of epsilon, which the user must choose.
const EPSILON: &str = "epsilon = 1.0";
/// The beginning of the line with the name of the target.
const TARGET: &str = "target = ";
/// The beginning of the line of delta.
const DELTA: &str = "delta = ";
/// The beginning of the line that selects nested cells, whose releases find their hyperparameters.
const CELLS: &str = "features = \"cells\"";
/// The beginning of the line with the column of persons.
const PERSON: &str = "person = ";
const EPSILON_ABOUT: &str = "Privacy loss. At 1, one row can make any conclusion at most 2.7 times as likely. Smaller is \
                             safer; 0.1 to 10 is usual.";
const DELTA_ABOUT: &str = "Probability that this limit does not hold. Keep it far below 1 / number of rows.";

/// The key of the question for the bounds of the target.
pub(super) const BOUNDS: &str = "normalise.bounds";
const CHANGE: &str = "privacy.change";
const MAP: &str = "task.surface.map";
const AT: &str = "task.surface.at";
/// The variances of functions that add up.
const PARTS: &str = "model.kernel.additive.variances";
const BOUND: &str = "privacy.mechanism.moments.target_bound";
const MODEL: &str = "model.";
const BOX: &str = "privacy.mechanism.moments.domain";
/// The common part of keys of lengthscales, for one input or several.
const LENGTHSCALE: &str = ".lengthscale";

/// Finds the questions of a template, in the order of its lines.
pub(super) fn find_questions(template: &str) -> Vec<SpecQuestion> {
    let mut found: Vec<SpecQuestion> = Vec::new();
    let (mut section, mut list, mut start) = ("", ("", ""), 0);
    let target = template.lines().find_map(|line| serde_json::from_str(line.strip_prefix(TARGET)?).ok());
    let target: String = target.unwrap_or_default();
    let protects_persons = template.lines().any(|line| line.starts_with(PERSON));
    let sums_cells = template.lines().any(|line| line.starts_with(CELLS));
    for (number, line) in template.split_inclusive('\n').enumerate() {
        let (code, about) = line.split_once('#').unwrap_or((line, ""));
        let key = code.split('=').next().unwrap_or_default().trim();
        let heading = code.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(name) = heading.filter(|name| !name.contains(OPEN)) {
            section = name;
        }
        if code.trim_end().ends_with("= [") {
            list = (key, about);
        }
        let open = TemplateLine { start, line: number + 1, code };
        let new = match (budget_question(open, protects_persons), code.starts_with(' ')) {
            (Some(question), _) => Some(question),
            // An entry of a list: its comment names the input, and the comment of the list describes the number.
            (None, true) => {
                let named = format!("{section}.{}, {}", list.0, about.trim());
                open.question(named, list.1)
            }
            (None, false) => open.question(format!("{section}.{key}"), about),
        };
        match (new, found.last_mut()) {
            (Some(high), Some(low)) if low.key == "normalise.bounds.low" => low.merge_upper_end_question(high, &target),
            (new, _) => found.extend(new),
        }
        start += line.len();
    }
    mark_derived_questions(found, sums_cells)
}

/// A line of a template before its comment.
#[derive(Clone, Copy)]
struct TemplateLine<'a> {
    start: usize,
    line: usize,
    code: &'a str,
}

impl TemplateLine<'_> {
    /// Makes the question of the line, if it has open places.
    fn question(self, key: String, about: &str) -> Option<SpecQuestion> {
        let opens = self.code.match_indices(OPEN).map(|(at, _)| self.range_in_template(at, OPEN.len()));
        let places: Vec<Range<usize>> = opens.collect();
        let words = about.replace("fill in:", " ");
        let about = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let guess = || DefaultAnswer::guess(&input_name(&key, &about), places.len() == 2);
        let source = AnswerSource::Proposed(DefaultAnswer::parse_comment(&about).unwrap_or_else(guess));
        let lines = vec![self.line];
        let (is_squared, about) = match about.strip_prefix(SQUARE) {
            Some(root) => (true, root.to_owned()),
            None => (false, about),
        };
        (!places.is_empty()).then_some(SpecQuestion { places, lines, key, about, is_squared, source })
    }

    fn range_in_template(self, at: usize, length: usize) -> Range<usize> {
        self.start + at..self.start + at + length
    }
}

/// The input that a question is about: that of an entry of a list, or of the only lengthscale. Empty if there is none.
fn input_name(key: &str, about: &str) -> String {
    let of_list = key.split_once(", ").map(|(_, input)| input);
    let of_comment = || about.rsplit_once('(').and_then(|(_, input)| input.strip_suffix(')'));
    let quoted = of_list.or_else(of_comment).unwrap_or_default();
    serde_json::from_str(quoted).unwrap_or_default()
}

/// Makes the question of a line with epsilon or delta.
fn budget_question(open: TemplateLine<'_>, protects_persons: bool) -> Option<SpecQuestion> {
    let code = open.code.trim_end();
    let (key, about, value) = if code == EPSILON {
        ("privacy.epsilon", EPSILON_ABOUT, "1.0")
    } else {
        ("privacy.delta", DELTA_ABOUT, code.strip_prefix(DELTA)?)
    };
    let source = AnswerSource::Proposed(DefaultAnswer::Number(value.parse().ok()?));
    let places = vec![open.range_in_template(code.len() - value.len(), value.len())];
    let about = if protects_persons { about.replace("one row", "one person") } else { about.to_owned() };
    let key = key.to_owned();
    Some(SpecQuestion { places, lines: vec![open.line], key, about, is_squared: false, source })
}

/// Marks the numbers that need not be asked, because they follow from the bounds or from the map.
fn mark_derived_questions(mut questions: Vec<SpecQuestion>, sums_cells: bool) -> Vec<SpecQuestion> {
    let bounds = questions.iter().position(|question| question.key == BOUNDS);
    let (map, domain) = (list_question_indices(&questions, MAP), list_question_indices(&questions, BOX));
    let parts = list_question_indices(&questions, PARTS);
    if let Some(of) = bounds {
        // Together the functions deviate from the middle of the bounds by a quarter of the width.
        let times = 1.0 / (16.0 * parts.len() as f64);
        parts
            .into_iter()
            .for_each(|part| questions[part].source = AnswerSource::Derived(DerivationRule::Square { of, times }));
    }
    // The map covers the first inputs, and `at` fixes the others.
    for (drawn, end) in map.iter().zip(&domain) {
        questions[*end].source = AnswerSource::Derived(DerivationRule::Around(*drawn));
    }
    for (fixed, end) in list_question_indices(&questions, AT).into_iter().zip(&domain[map.len().min(domain.len())..]) {
        questions[fixed].source = AnswerSource::Derived(DerivationRule::Middle(*end));
    }
    // Ranges of inputs come from the answers: first from the map, then from the box.
    let ranges = map.iter().chain(domain.iter().skip(map.len()));
    for (place, range) in matching_question_indices(&questions, |key| key.contains(LENGTHSCALE)).into_iter().zip(ranges)
    {
        if let Some(times) = parse_range_fraction(&questions[place].about) {
            let proposed = AnswerSource::Proposed(DefaultAnswer::OfRange { of: *range, times });
            let derived = AnswerSource::Derived(DerivationRule::Part { of: *range, times });
            questions[place].source = if sums_cells { derived } else { proposed };
        }
    }
    // The release finds these numbers itself, so nobody is asked for them.
    if let (true, Some(of)) = (sums_cells, bounds) {
        for question in questions.iter_mut().filter(|question| question.key.starts_with(MODEL)) {
            if let AnswerSource::Proposed(DefaultAnswer::OfWidth(part)) = question.source {
                question.source = AnswerSource::Derived(DerivationRule::Square { of, times: part * part });
            }
        }
    }
    for question in &mut questions {
        let times = match question.key.as_str() {
            BOUND => 0.5,
            CHANGE => 1.0,
            _ => continue,
        };
        if let Some(of) = bounds {
            question.source = AnswerSource::Derived(DerivationRule::Width { of, times });
        }
    }
    questions
}

/// Finds the entries of a list.
fn list_question_indices(questions: &[SpecQuestion], list: &str) -> Vec<usize> {
    let entry = format!("{list}, ");
    matching_question_indices(questions, |key| key.starts_with(&entry))
}

fn matching_question_indices(questions: &[SpecQuestion], is_meant: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..questions.len()).filter(|place| is_meant(&questions[*place].key)).collect()
}

/// Returns the order of the questions. A question whose proposal follows from a range comes after all ranges.
pub(super) fn asking_order(questions: &[SpecQuestion]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..questions.len()).collect();
    order.retain(|place| !matches!(questions[*place].source, AnswerSource::Derived(_)));
    order
        .sort_by_key(|place| matches!(questions[*place].source, AnswerSource::Proposed(DefaultAnswer::OfRange { .. })));
    order
}

impl SpecQuestion {
    /// Joins the questions for the lower and the upper end of this target.
    fn merge_upper_end_question(&mut self, high: Self, target: &str) {
        self.key = BOUNDS.to_owned();
        self.source = AnswerSource::Proposed(DefaultAnswer::guess(target, true));
        self.about = format!("{}; and {}", self.about, high.about);
        self.places.extend(high.places);
        self.lines.extend(high.lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Epsilon is about whoever the guarantee is about.
    #[test]
    fn epsilon_is_about_whoever_is_protected() {
        for (person, who) in [("person = \"who\"   # it", "one person"), ("# person = \"who\"", "one row")] {
            let questions = find_questions(&format!("[data]\n{person}\n[privacy]\nepsilon = 1.0\n"));
            assert!(questions[0].about.contains(who), "{}", questions[0].about);
        }
    }

    /// A template for records with two inputs, of which the first is drawn.
    fn template() -> String {
        let parts = [
            (
                "@LENGTHSCALES@",
                "lengthscales = [   # fill in: how far: an eighth of its range\n    nan,   # \"a\"\n    nan,   # \"b\"\n]",
            ),
            (
                "@MAP@",
                "map = [   # fill in: the ends\n    { from = nan, to = nan, points = 25 },   # \"a\"\n]\nat = [   # fill in: \
                 the value\n    nan,   # \"b\"\n]\n",
            ),
            ("@DELTA@", "1e-7"),
            ("@ENDS@", "    [nan, nan],   # \"a\"\n    [nan, nan],   # \"b\"\n"),
            ("@TARGET@", "\"y\""),
        ];
        let records = include_str!("records.toml").to_owned();
        parts.iter().fold(records, |text, (place, part)| text.replace(place, part))
    }

    fn eighth(of: usize) -> DefaultAnswer {
        DefaultAnswer::OfRange { of, times: 0.125 }
    }

    #[test]
    fn every_place_has_its_question() {
        let template = template();
        let found = find_questions(&template);
        let keys: Vec<(&str, AnswerSource)> = found.iter().map(|one| (one.key.as_str(), one.source)).collect();
        assert_eq!(
            keys,
            [
                ("normalise.bounds", AnswerSource::Proposed(DefaultAnswer::Guess([0.0, 100.0]))),
                ("model.noise_variance", AnswerSource::Proposed(DefaultAnswer::OfWidth(0.125))),
                ("model.kernel.@KERNEL@.lengthscales, \"a\"", AnswerSource::Proposed(eighth(4))),
                ("model.kernel.@KERNEL@.lengthscales, \"b\"", AnswerSource::Proposed(eighth(10))),
                ("task.surface.map, \"a\"", AnswerSource::Proposed(DefaultAnswer::Guess([0.0, 100.0]))),
                ("task.surface.at, \"b\"", AnswerSource::Derived(DerivationRule::Middle(10))),
                ("privacy.epsilon", AnswerSource::Proposed(DefaultAnswer::Number(1.0))),
                ("privacy.delta", AnswerSource::Proposed(DefaultAnswer::Number(1e-7))),
                (
                    "privacy.mechanism.moments.target_bound",
                    AnswerSource::Derived(DerivationRule::Width { of: 0, times: 0.5 })
                ),
                ("privacy.mechanism.moments.domain, \"a\"", AnswerSource::Derived(DerivationRule::Around(4))),
                ("privacy.mechanism.moments.domain, \"b\"", AnswerSource::Proposed(DefaultAnswer::Guess([0.0, 100.0]))),
            ]
        );
        assert_eq!(asking_order(&found), [0, 1, 4, 6, 7, 10, 2, 3]);
        let all = found.iter().flat_map(|question| question.places.clone());
        let texts: Vec<&str> = all.map(|place| &template[place]).collect();
        assert_eq!(texts.iter().filter(|text| **text == "nan").count(), template.matches("nan").count() - 1);
        assert_eq!(texts.iter().filter(|text| ["1.0", "1e-7"].contains(text)).count(), 2);
        assert_eq!(
            (found[3].about.as_str(), found[0].places.len(), found[4].places.len()),
            ("how far: an eighth of its range", 2, 2)
        );
    }

    /// What the release finds itself is not asked: the noise variance is `(width / 8)^2`, and lengthscales are parts of ranges.
    #[test]
    fn cells_leave_no_question_about_the_model() {
        let template = template().replace("@FEATURES@", "features = \"cells\"");
        let found = find_questions(&template);
        let source = |key: &str| found.iter().find(|one| one.key == key).map(|one| one.source);
        assert_eq!(
            source("model.noise_variance"),
            Some(AnswerSource::Derived(DerivationRule::Square { of: 0, times: 1.0 / 64.0 }))
        );
        assert_eq!(
            source("model.kernel.@KERNEL@.lengthscales, \"b\""),
            Some(AnswerSource::Derived(DerivationRule::Part { of: 10, times: 0.125 }))
        );
        assert_eq!(asking_order(&found), [0, 4, 6, 7, 10]);
    }
}

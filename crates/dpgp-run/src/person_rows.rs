//! The rows of each person that are used, of rows in memory.

use std::collections::BTreeMap;

use dpgp_data::{PersonId, PersonRows};
use dpgp_spec::setting::{ChosenBy, PersonLimit};
use dpgp_task::Sample;

/// A sample that passed the filters, with at most so many rows of each person, in their order.
pub(super) fn limited(
    sample: &Sample,
    persons: &[PersonId],
    limit: PersonLimit<'_>,
    chosen_by: ChosenBy,
) -> Sample {
    let mut chosen = PersonRows::new(limit.rows);
    for (row, person) in persons.iter().enumerate() {
        let mut cells: Vec<f64> = sample.inputs.row(row).iter().copied().collect();
        if chosen_by == ChosenBy::Record {
            cells.push(sample.targets[row]);
        }
        chosen.insert(*person, &cells, row as u64);
    }
    let kept = chosen.kept();
    let rows: Vec<usize> = (0..sample.rows()).filter(|row| kept.contains(*row as u64)).collect();
    let persons = numbered(rows.iter().map(|row| persons[*row]));
    Sample { persons, ..sample.select(&rows) }
}

/// The number of each person, in the order in which they come.
fn numbered(persons: impl Iterator<Item = PersonId>) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    let mut numbered = Vec::new();
    for person in persons {
        let next = numbers.len();
        numbered.push(*numbers.entry(person).or_insert(next));
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str) -> PersonId {
        PersonId::of(name).unwrap()
    }

    fn used(targets: &[f64], chosen_by: ChosenBy) -> Sample {
        let inputs: Vec<f64> = (0..targets.len()).map(|row| row as f64).collect();
        let persons: Vec<PersonId> = (0..targets.len()).map(|row| person(["a", "b", "c"][row % 3])).collect();
        let limit = PersonLimit { column: "id", rows: 2 };
        limited(&Sample::new(&[inputs], targets.to_vec()), &persons, limit, chosen_by)
    }

    /// Where the target alone is private, which inputs are used does not depend on it.
    #[test]
    fn targets_do_not_choose_where_inputs_are_public() {
        let [one, other] =
            [1.0, -7.5].map(|factor| (0..30).map(|i| factor * f64::from(i * i % 11)).collect::<Vec<f64>>());
        let by_inputs = [&one, &other].map(|targets| used(targets, ChosenBy::Inputs).inputs);
        assert_eq!(by_inputs[0], by_inputs[1]);
        let by_records = [&one, &other].map(|targets| used(targets, ChosenBy::Record).inputs);
        assert_ne!(by_records[0], by_records[1]);
    }

    #[test]
    fn rows_know_their_persons() {
        let sample = used(&[0.0; 30], ChosenBy::Inputs);
        assert_eq!((sample.rows(), sample.persons.len()), (6, 6));
        for number in 0..3 {
            let of_one: Vec<f64> = (0..6)
                .filter(|row| sample.persons[*row] == number)
                .map(|row| sample.inputs[row] % 3.0)
                .collect();
            assert_eq!((of_one.len(), of_one[0]), (2, of_one[1]));
        }
    }
}

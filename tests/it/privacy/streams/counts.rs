//! Histograms of rows.

use dpgp::data::Comparison;
use dpgp::kernel::Bins;
use dpgp::stream::{BLOCK, CountSummand, StreamError, SumRows};

use super::rows::{N, same_in_parts, summed, wave};

/// Two inputs, numbers of records, and a column that a filter looks at.
fn columns() -> Vec<Vec<f64>> {
    vec![wave(0.37), wave(0.011), (0..N).map(|i| (i % 4) as f64).collect(), wave(0.41)]
}

fn summand() -> CountSummand {
    let bins = Bins::grid(&[(-2.0, 3.0, 7), (-3.0, 3.0, 4)]);
    CountSummand { bins, filters: vec![(Comparison::Greater, -2.5)], most: None }
}

/// Against a plain histogram of the rows that pass.
#[test]
fn threads_and_parts_count_the_same() {
    let (columns, summand) = (columns(), summand());
    let total = same_in_parts(&summand, &columns);
    let mut plain = summand.zero();
    for row in (0..N).filter(|row| columns[3][*row] > -2.5) {
        let records = (row % 4) as u64;
        match summand.bins.holding(&[columns[0][row], columns[1][row]]) {
            Some(bin) => plain.bins[bin] += records,
            None => plain.outside += records,
        }
        plain.rows += 1;
    }
    assert_eq!(total, plain);
    assert!(plain.outside > 0 && plain.bins.iter().all(|count| *count > 0));
}

#[test]
fn parts_of_records_are_refused() {
    let (mut columns, row) = (columns(), 2 * BLOCK + 9);
    columns[3][row] = 0.0;
    for (weight, fits) in
        [(0.0, true), (7.0, true), (0.5, false), (-1.0, false), (4.3e9, false), (f64::NAN, false)]
    {
        columns[2][row] = weight;
        let refused = match summed(&summand(), &columns, 0..u64::MAX, 2) {
            Ok(_) => None,
            Err(StreamError::Misfit(found)) => Some(found.row),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(refused, (!fits).then_some(row as u64), "{weight}");
    }
}

//! Histograms of rows.

use dpgp::data::Comparison;
use dpgp::kernel::Bins;
use dpgp::stream::{BLOCK, CountSummand, RecordsPerRow, RowSummand};

use super::rows::{N, same_in_parts, summed, wave};

/// Two inputs, numbers of records, and a column that a filter looks at.
fn columns() -> Vec<Vec<f64>> {
    vec![wave(0.37), wave(0.011), (0..N).map(|i| (i % 4) as f64).collect(), wave(0.41)]
}

fn summand() -> CountSummand {
    let bins = Bins::grid(&[(-2.0, 3.0, 7), (-3.0, 3.0, 4)]);
    CountSummand { bins, filters: vec![(Comparison::Greater, -2.5)], each: RecordsPerRow::Target { most: None } }
}

/// Against a plain histogram of the rows that pass.
#[test]
fn threads_and_parts_count_the_same() {
    let (columns, summand) = (columns(), summand());
    let total = same_in_parts(&summand, &columns);
    let mut plain = summand.zero();
    for row in (0..N).filter(|row| columns[3][*row] > -2.5) {
        let records = (row % 4) as u64;
        match summand.bins.find_bin(&[columns[0][row], columns[1][row]]) {
            Some(bin) => plain.bins[bin] += records,
            None => plain.outside += records,
        }
        plain.rows += 1;
    }
    assert_eq!(total, plain);
    assert!(plain.outside > 0 && plain.bins.iter().all(|count| *count > 0));
}

/// What stands in the cell of a count must not be told by a refusal: a row stands for the whole records in it.
#[test]
fn any_number_stands_for_whole_records() {
    let (mut columns, row) = (columns(), 2 * BLOCK + 9);
    columns[3][row] = 0.0;
    columns[2][row] = 0.0;
    let none = summed(&summand(), &columns, 0..u64::MAX, 2).unwrap().sums;
    let bin = summand().bins.find_bin(&[columns[0][row], columns[1][row]]).unwrap();
    let most = u64::from(u32::MAX);
    for (weight, records) in [
        (7.0, 7),
        (0.5, 0),
        (2.999, 2),
        (-1.0, 0),
        (-f64::INFINITY, 0),
        (f64::NAN, 0),
        (4.3e9, most),
        (f64::INFINITY, most),
    ] {
        columns[2][row] = weight;
        let found = summed(&summand(), &columns, 0..u64::MAX, 2).unwrap().sums;
        assert_eq!(found.bins[bin] - none.bins[bin], records, "{weight}");
        assert_eq!((found.rows, found.outside), (none.rows, none.outside), "{weight}");
    }
}

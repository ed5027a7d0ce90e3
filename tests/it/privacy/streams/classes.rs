//! The sums of each class.

use dpgp::data::Comparison;
use dpgp::stream::{BLOCK, ClassSummand, class_of};

use super::rows::{N, covariance, kernel, same_in_parts, summed, wave};

/// Two inputs, one of three classes, and a column that a filter looks at.
fn columns() -> Vec<Vec<f64>> {
    let classes = (0..N).map(|i| (i * i % 7 % 3) as f64).collect();
    vec![wave(0.37), wave(0.011), classes, wave(0.41)]
}

fn summand() -> ClassSummand {
    let filters = vec![(Comparison::Greater, -2.5)];
    ClassSummand { kernel: kernel(), classes: 3, filters, inputs: 2 }
}

/// Against plain sums over the rows of each class that pass.
#[test]
fn each_class_has_the_sums_of_its_rows() {
    let columns = columns();
    let total = same_in_parts(&summand(), &columns);
    for (class, sums) in total.0.iter().enumerate() {
        let rows: Vec<usize> = (0..N).filter(|i| columns[2][*i] == class as f64 && columns[3][*i] > -2.5).collect();
        assert_eq!((sums.rows, sums.clipped), (rows.len() as u64, 0));
        let k: Vec<f64> = rows.iter().map(|row| covariance(&columns, *row)).collect();
        let (a, b) = (k.iter().sum::<f64>(), k.iter().map(|k| k * k).sum::<f64>());
        let found = sums.statistics(summand().units());
        // A correlation is rounded to 2^-22.
        assert!((found.a[0] / a - 1.0).abs() < 1e-6 && (found.b[(0, 0)] / b - 1.0).abs() < 1e-6);
    }
}

/// A row of another class enters no sums, as one that no filter lets pass; nothing tells of it.
#[test]
fn rows_of_no_class_are_left_out() {
    let (mut columns, mut passed_over) = (columns(), columns());
    let rows = [2 * BLOCK + 5, 2 * BLOCK + 77, 4 * BLOCK + 3];
    for (row, class) in rows.into_iter().zip([3.0, 0.5, -1.0]) {
        (columns[2][row], columns[3][row]) = (class, 0.0);
        passed_over[3][row] = -3.0;
    }
    let expected = summed(&summand(), &passed_over, 0..u64::MAX, 1).unwrap();
    for threads in [1, 2, 5] {
        assert_eq!(summed(&summand(), &columns, 0..u64::MAX, threads).unwrap(), expected);
    }
}

#[test]
fn classes_are_whole_numbers() {
    let found = [0.0, 2.0, 3.0, 0.5, -1.0, f64::NAN].map(|target| class_of(target, 3));
    assert_eq!(found, [Some(0), Some(2), None, None, None, None]);
}

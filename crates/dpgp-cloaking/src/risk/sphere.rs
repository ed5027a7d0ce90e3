//! Strategies whose columns are at most 1 long, as unit columns with one coordinate more.
//!
//! The last row is slack: nothing is released along it, and a column that is better shorter than 1 has length left there.

use nalgebra::DMatrix;

/// Slack below this counts as none.
const ASLEEP: f64 = 0.1;

/// The strategy (r x n) without the row of slack.
pub(super) fn released(strategy: &DMatrix<f64>) -> DMatrix<f64> {
    strategy.rows(0, strategy.nrows() - 1).into_owned()
}

/// Columns of any length with slack in the last row, scaled to length 1.
pub(super) fn normalised(mut strategy: DMatrix<f64>) -> DMatrix<f64> {
    let last = strategy.nrows() - 1;
    for mut column in strategy.column_iter_mut() {
        let norm = column.norm();
        // A column that is zero has all its length in slack.
        if norm > 0.0 { column /= norm } else { column[last] = 1.0 }
    }
    strategy
}

/// Rows (r x n) with columns longer than 1 cut to 1, and the length that shorter ones have left as slack.
pub(super) fn with_slack(rows: &DMatrix<f64>) -> DMatrix<f64> {
    let last = rows.nrows();
    let mut strategy = rows.clone().insert_row(last, 0.0);
    for mut column in strategy.column_iter_mut() {
        column[last] = (1.0 - column.norm_squared()).max(0.0).sqrt();
    }
    normalised(strategy)
}

/// Gives slack to the columns that want to be shorter (`pulls[u] < 0`) and have none: at zero the slack does not move by
/// itself. Tells whether there were any.
pub(super) fn wake(strategy: &mut DMatrix<f64>, pulls: &[f64]) -> bool {
    let last = strategy.nrows() - 1;
    let mut woken = false;
    for (mut column, pull) in strategy.column_iter_mut().zip(pulls) {
        if *pull < 0.0 && column[last] < ASLEEP {
            column *= ((1.0 - ASLEEP * ASLEEP) / (1.0 - column[last].powi(2))).sqrt();
            column[last] = ASLEEP;
            woken = true;
        }
    }
    woken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: &DMatrix<f64>, expected: &[f64]) {
        let expected = DMatrix::from_row_slice(found.nrows(), found.ncols(), expected);
        assert!((found - &expected).amax() < 1e-15, "{found}");
    }

    /// Columns of length 1/2, 5 and 0.
    #[test]
    fn shorter_columns_have_slack() {
        let rows = DMatrix::from_row_slice(2, 3, &[0.5, 3.0, 0.0, 0.0, 4.0, 0.0]);
        let strategy = with_slack(&rows);
        assert_close(&strategy, &[0.5, 0.6, 0.0, 0.0, 0.8, 0.0, 0.75f64.sqrt(), 0.0, 1.0]);
        assert_close(&released(&strategy), &[0.5, 0.6, 0.0, 0.0, 0.8, 0.0]);
    }

    /// Of three columns that want to be shorter two have no slack yet, of which one has a little; the last wants to be longer.
    #[test]
    fn slack_is_given_once() {
        let little = 0.05f64;
        let rest = (1.0 - little * little).sqrt();
        let mut strategy = DMatrix::from_row_slice(2, 4, &[1.0, rest, 0.8, 1.0, 0.0, little, 0.6, 0.0]);
        assert!(wake(&mut strategy, &[-1.0, -1e-9, -1.0, 0.0]));
        let woken = 0.99f64.sqrt();
        assert_close(&strategy, &[woken, woken, 0.8, 1.0, 0.1, 0.1, 0.6, 0.0]);
        assert!(!wake(&mut strategy, &[-1.0, -1.0, -1.0, 0.0]));
    }
}

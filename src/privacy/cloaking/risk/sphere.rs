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

//! What a table says of surfaces that fit rows worse without privacy than with it.

use crate::report::{Report, ReportRow};
use dpgp_number::text::{exact, short};

/// The error of single rows about a surface.
const METRIC: &str = "rmse";
/// How much larger an error must be, relative to the other: below it lies what noise does by chance.
const LARGER: f64 = 1.003;

/// The sentence on the first two cells that differ in epsilon alone, of which the one without privacy errs more; none if there are none.
///
/// Sums without noise are believed to the last digit, also by a model whose function varies less than the true one: noise is then what keeps
/// it from following them.
pub(super) fn worse_without_privacy(report: &Report<'_>) -> Option<String> {
    let place = report.axis("epsilon")?;
    let rows = report.rows.iter().filter(|row| row.row.metric == METRIC);
    let errors: Vec<SurfaceError> = rows.map(|row| SurfaceError::of(row, place)).collect();
    let [exactly, private] = worse(&errors)?;
    Some(format!(
        "Without privacy the surface fits rows worse ({METRIC} {} against {} at epsilon {}): the function varies faster than the \
         lengthscales say. Shorter ones may fit better; until then `difference` is no price of privacy.",
        short(exactly.value),
        short(private.value),
        exact(private.epsilon),
    ))
}

/// The error of a cell.
#[derive(Debug, PartialEq)]
struct SurfaceError<'a> {
    /// Infinite without privacy.
    epsilon: f64,
    /// Its labels on the other axes.
    others: Vec<&'a str>,
    value: f64,
}

impl<'a> SurfaceError<'a> {
    fn of(row: &'a ReportRow, place: usize) -> Self {
        let labels = row.labels.iter().enumerate().filter(|(axis, _)| *axis != place);
        Self {
            epsilon: row.row.certificate.epsilon(),
            others: labels.map(|(_, label)| label.as_str()).collect(),
            value: row.row.value,
        }
    }

    /// Whether it is that of another cell without privacy, and larger.
    fn is_worse_than(&self, private: &Self) -> bool {
        self.epsilon.is_infinite()
            && private.epsilon.is_finite()
            && self.others == private.others
            && self.value > LARGER * private.value
    }
}

/// The first that is worse without privacy, and the private one.
fn worse<'e, 'a>(errors: &'e [SurfaceError<'a>]) -> Option<[&'e SurfaceError<'a>; 2]> {
    errors.iter().find_map(|exactly| {
        let private = errors.iter().find(|private| exactly.is_worse_than(private))?;
        Some([exactly, private])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(epsilon: f64, other: &str, value: f64) -> SurfaceError<'_> {
        SurfaceError { epsilon, others: vec![other], value }
    }

    #[test]
    fn cells_that_differ_in_epsilon_alone_are_compared() {
        let errors = [
            error(1.0, "a", 11.02),
            error(f64::INFINITY, "b", 11.2),
            error(1.0, "b", 11.19),
            error(f64::INFINITY, "a", 11.2),
        ];
        assert_eq!(worse(&errors), Some([&errors[3], &errors[0]]));
        assert_eq!(worse(&errors[..3]), None);
        // More privacy may err less by chance.
        assert_eq!(worse(&[error(2.0, "a", 12.0), error(1.0, "a", 11.0)]), None);
    }
}

//! Predictions that were released, read from their file.

use std::io::ErrorKind;
use std::path::Path;

use super::prediction_rows::COLUMNS;
use super::{ReleaseError, ReleaseStatement};
use dpgp_data::whole_text;
use dpgp_fs::with_ending;

/// What a file of `dpgp predict` holds, and what may be said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleasedPredictions {
    /// The columns of inputs.
    pub inputs: Vec<ReleasedInput>,
    /// The numbers at each point.
    pub points: Vec<ReleasedPoint>,
    /// What is guaranteed.
    pub statement: ReleaseStatement,
}

/// A column of inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleasedInput {
    /// Its name.
    pub name: String,
    /// A number or a word for each point, as in the file.
    pub cells: Vec<String>,
}

/// What was predicted at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReleasedPoint {
    /// The prediction, with noise.
    pub mean: f64,
    /// Standard deviation of the function under the model.
    pub gp_sd: f64,
    /// Standard deviation that the privacy noise adds.
    pub noise_sd: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl ReleasedPredictions {
    /// Reads a CSV file of predictions, and the certificate beside it if there is one.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], [`ReleaseError::NotPredictions`]; [`ReleaseError::NoCertificate`] if what stands beside it is none.
    pub fn read(path: &Path) -> Result<Self, ReleaseError> {
        let csv = whole_text(path).map_err(ReleaseError::io(path))?;
        let beside = with_ending(path, ".certificate.json");
        let statement = match whole_text(&beside) {
            Ok(text) => ReleaseStatement::of(&beside, &text, Some(&csv))?,
            Err(cause) if cause.kind() == ErrorKind::NotFound => ReleaseStatement::none(),
            Err(cause) => return Err(ReleaseError::Io { path: beside, cause }),
        };
        Self::of(path, &csv, statement)
    }

    /// Predictions from the text of their file.
    ///
    /// # Errors
    /// [`ReleaseError::NotPredictions`] if it is none.
    pub fn of(path: &Path, csv: &str, statement: ReleaseStatement) -> Result<Self, ReleaseError> {
        parsed(csv, statement)
            .map_err(|cause| ReleaseError::NotPredictions { path: path.to_path_buf(), cause })
    }
}

fn parsed(text: &str, statement: ReleaseStatement) -> Result<ReleasedPredictions, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let dimensions = header.len().checked_sub(COLUMNS.len()).filter(|inputs| *inputs > 0);
    let Some(dimensions) = dimensions.filter(|inputs| header.iter().skip(*inputs).eq(COLUMNS)) else {
        return Err(format!("its columns are not inputs and then {}", COLUMNS.join(", ")));
    };
    let names = header.iter().take(dimensions);
    let mut inputs: Vec<ReleasedInput> =
        names.map(|name| ReleasedInput { name: name.to_owned(), cells: Vec::new() }).collect();
    let mut points = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| error.to_string())?;
        inputs.iter_mut().zip(&row).for_each(|(input, cell)| input.cells.push(cell.to_owned()));
        let mut numbers = [0.0; COLUMNS.len()];
        for (number, cell) in numbers.iter_mut().zip(row.iter().skip(dimensions)) {
            let read = cell.parse().ok().filter(|number: &f64| number.is_finite());
            let line = points.len() + 2;
            *number = read.ok_or_else(|| format!("line {line} has {cell:?} where a number belongs"))?;
        }
        let [mean, gp_sd, noise_sd, low, high] = numbers;
        points.push(ReleasedPoint { mean, gp_sd, noise_sd, low, high });
    }
    if points.is_empty() {
        Err("it has no rows".to_owned())
    } else {
        Ok(ReleasedPredictions { inputs, points, statement })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a certificate nothing is claimed; one that cannot be read is an error.
    #[test]
    fn a_certificate_is_read_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        std::fs::write(&path, format!("x,{}\n1,2,3,4,5,6\n", COLUMNS.join(","))).unwrap();
        let read = ReleasedPredictions::read(&path).unwrap();
        assert_eq!(read.statement, ReleaseStatement::none());
        assert_eq!(
            read.points,
            [ReleasedPoint { mean: 2.0, gp_sd: 3.0, noise_sd: 4.0, low: 5.0, high: 6.0 }]
        );
        std::fs::create_dir(with_ending(&path, ".certificate.json")).unwrap();
        assert!(matches!(ReleasedPredictions::read(&path), Err(ReleaseError::Io { .. })));
    }
}

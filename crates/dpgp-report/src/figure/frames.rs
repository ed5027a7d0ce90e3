//! The interface of all kinds of figure: they read the columns of frames, and refuse those that they do not know. Also the
//! errors of drawing one.

use thiserror::Error;

use crate::report::Report;
use dpgp_plot::{Picture, PlotError, PlotPoint, points_from_columns};
use dpgp_task::{FigureTable, MissingColumnError};

/// Turns the rows and frames of a report into marks.
pub trait PictureBuilder {
    /// Draws a report without computing any of its numbers.
    ///
    /// # Errors
    /// [`FigureError`] if a frame lacks columns that the kind needs, or has unknown ones.
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError>;
}

/// Reasons why a figure was not drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The drawing library refused.
    #[error(transparent)]
    Refused(#[from] PlotError),
    /// A frame lacks a column that the kind of figure needs.
    #[error(transparent)]
    MissingColumn(#[from] MissingColumnError),
    /// A frame has a column unknown to the kind of figure, perhaps a misspelt optional one.
    #[error("the frame `{frame}` has an unknown column `{column}`; its figure accepts {}", known.join(", "))]
    UnknownColumn {
        /// The name of the frame.
        frame: String,
        /// The column.
        column: String,
        /// The columns that the figure accepts; numbered ones by their name without the number.
        known: Vec<&'static str>,
    },
}

/// A reader of the columns that a kind of figure knows.
pub type FrameReader<'a, T> = fn(&mut FrameColumns<'a>) -> Result<T, FigureError>;

/// The columns of a frame, and the names that were asked for.
pub struct FrameColumns<'a> {
    frame: &'a FigureTable,
    known: Vec<&'static str>,
}

impl<'a> FrameColumns<'a> {
    /// A column without which there is nothing to draw.
    pub fn require_column(&mut self, name: &'static str) -> Result<&'a [f64], FigureError> {
        self.known.push(name);
        Ok(self.frame.column(name)?)
    }

    /// An optional column; empty without it.
    pub fn optional_column(&mut self, name: &'static str) -> &'a [f64] {
        self.known.push(name);
        self.frame.column(name).unwrap_or_default()
    }

    /// The columns of this name and a number, in order.
    pub fn numbered_columns(&mut self, name: &'static str) -> Vec<&'a [f64]> {
        self.known.push(name);
        self.frame.numbered_columns(name).collect()
    }

    /// Optional columns that are not drawn.
    pub fn ignore_columns(&mut self, names: &[&'static str]) {
        self.known.extend(names);
    }

    fn read_frame<T>(frame: &'a FigureTable, read: FrameReader<'a, T>) -> Result<T, FigureError> {
        let mut columns = FrameColumns { frame, known: Vec::new() };
        let typed = read(&mut columns)?;
        for (column, _) in &frame.columns {
            let bare = column.trim_end_matches(|c: char| c.is_ascii_digit());
            if !columns.known.iter().any(|known| *known == column || *known == bare) {
                let (frame, column) = (frame.name.clone(), column.clone());
                return Err(FigureError::UnknownColumn { frame, column, known: columns.known });
            }
        }
        Ok(typed)
    }
}

/// The frames of a name, of one cell or of all.
///
/// # Errors
/// [`FigureError`] if a frame lacks columns that are read.
pub fn read_frames<'a, T>(
    report: &'a Report<'_>,
    cell: Option<usize>,
    name: &str,
    read: FrameReader<'a, T>,
) -> Result<Vec<T>, FigureError> {
    let here = report.frames.iter().filter(|(of, frame)| frame.name == name && cell.is_none_or(|cell| cell == *of));
    here.map(|(_, frame)| FrameColumns::read_frame(frame, read)).collect()
}

/// Reads the columns `x1` and `y` as observed points.
pub fn read_observations(columns: &mut FrameColumns<'_>) -> Result<Vec<PlotPoint>, FigureError> {
    Ok(points_from_columns(columns.require_column("x1")?, columns.require_column("y")?))
}

/// A frame with a field for each column: those it needs, those it may have (empty without them) and those that are
/// numbered. Columns that it passes are known, and not drawn.
macro_rules! frame {
    ($(#[$doc:meta])* $FigureTable:ident {
        $(needs $($need:ident = $needed:literal),+;)?
        $(may $($may:ident = $optional:literal),+;)?
        $(numbered $($many:ident = $prefix:literal),+;)?
        $(passes $($passed:literal),+;)?
    }) => {
        $(#[$doc])*
        struct $FigureTable<'a> {
            $($($need: &'a [f64],)+)?
            $($($may: &'a [f64],)+)?
            $($($many: Vec<&'a [f64]>,)+)?
        }

        impl<'a> $FigureTable<'a> {
            fn from_frame_columns(columns: &mut FrameColumns<'a>) -> Result<Self, FigureError> {
                $(columns.ignore_columns(&[$($passed),+]);)?
                Ok(Self {
                    $($($need: columns.require_column($needed)?,)+)?
                    $($($may: columns.optional_column($optional),)+)?
                    $($($many: columns.numbered_columns($prefix),)+)?
                })
            }
        }
    };
}
pub(super) use frame;

#[cfg(test)]
mod tests {
    use super::*;

    frame! {
        Curve {
            needs mean = "mean";
            may sd = "sd";
            numbered draws = "draw";
        }
    }

    #[test]
    fn misspelt_columns_are_errors() {
        let read = |frame: &FigureTable| {
            FrameColumns::read_frame(frame, Curve::from_frame_columns).map(|curve| curve.mean.len())
        };
        let good = FigureTable::new("curve")
            .with_column("mean", [1.0])
            .with_column("draw1", [2.0])
            .with_column("draw12", [3.0]);
        let curve = FrameColumns::read_frame(&good, Curve::from_frame_columns).unwrap();
        assert_eq!((curve.sd.len(), curve.draws.len()), (0, 2));
        let missing = read(&FigureTable::new("curve").with_column("maen", [1.0])).unwrap_err().to_string();
        assert_eq!(missing, "the frame `curve` has no column `mean`; its columns are maen");
        let unknown = read(&good.with_column("sds", [1.0])).unwrap_err().to_string();
        let says = "the frame `curve` has an unknown column `sds`; its figure accepts mean, sd, draw";
        assert_eq!(unknown, says);
    }
}

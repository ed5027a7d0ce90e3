//! Where to predict.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};

use dpgp_release::{GridChoice, PointsFile, PublicPoints};

/// Public points, of a file or of a grid.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("places of predictions").required(true).args(["at", "grid"])))]
pub(super) struct PointsArguments {
    /// A CSV or Parquet file with the inputs to predict at, a column for each input of the spec; public
    #[arg(long, value_name = "GRID")]
    pub at: Option<PathBuf>,
    /// Instead of a file: `auto` for the places that the spec names (its map, else the box of its inputs), or for each input
    /// INPUT=FROM..TO:POINTS or INPUT=VALUE, with commas between
    #[arg(long, value_name = "POINTS")]
    grid: Option<GridChoice>,
    /// The column of GRID with a public weight for each point: the objective risk then minimises the weighted sum of squared errors
    /// [default: all points count alike]
    #[arg(long, value_name = "COLUMN", requires = "at")]
    weights: Option<String>,
}

impl PointsArguments {
    /// The points that were chosen: one of the options is there.
    pub fn chosen(&self) -> PublicPoints<'_> {
        match &self.grid {
            Some(grid) => PublicPoints::Grid(grid),
            None => {
                let path = self.at.as_deref().unwrap_or(Path::new(""));
                PublicPoints::File(PointsFile { path, weights: self.weights.as_deref() })
            }
        }
    }
}

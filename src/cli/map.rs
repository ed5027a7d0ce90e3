//! `dpgp map`.
//!
//! The file of a map, before anything is computed for it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::Format;
use super::output::{open_new, print, print_json, refused};
use dpgp_fs::NewFile;
use dpgp_release::{CertificateSummary, ReleasedPredictions};
use dpgp_report::{DrawnMap, MapFormat, MapOptions, MapSlice, draw_map};

const EXAMPLES: &str = "\
A picture of a file of `dpgp predict`: of points that differ in one input the private mean between two bands, the privacy noise
alone and the whole interval; in two, cells coloured by the private mean, hatched where little is known. Nothing is read but
the file and the certificate beside it, so that the picture costs no privacy. Its caption tells what the certificate guarantees,
if there is one and it holds; otherwise that nothing is claimed.

FILE ends in .svg (a drawing), .html (a page with the numbers of each cell and a table, which needs no network) or .geojson (cells
of a longitude and a latitude, for map software).

Examples:
  dpgp map p.csv --out map.html
  dpgp map p.csv --out map.svg --title 'How long trips take' --unit minutes
  dpgp map p.csv --out map.svg --mask 50                  hatched where noise_sd is above 50, too
  dpgp map p.csv --out map.svg --slice hour=8             of points that differ in more than two inputs
  dpgp map p.csv --out map.geojson --lon x --lat y        the columns that are longitude and latitude, where names do not tell
  dpgp predict my.toml --grid auto --map map.html --out p.csv         the same at once";

/// `dpgp map`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MapArguments {
    /// A CSV file of `dpgp predict`
    #[arg(value_name = "PREDICTIONS")]
    predictions: PathBuf,
    /// The file to write, by its ending SVG, HTML or GeoJSON; never over a file that is there
    #[arg(id = "map", long = "out", value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    choices: MapChoices,
}

/// Draws what was released.
pub fn map(arguments: &MapArguments, format: Format) -> Result<(), CliError> {
    let MapArguments { predictions, out, choices } = arguments;
    let file = NewMap::open(out, choices)?;
    let drawn = file.write(&ReleasedPredictions::read(predictions)?)?;
    if format == Format::Json {
        return print_json(&json!({ "written": out, "map": drawn.json() }));
    }
    let caption: String = drawn.caption.iter().map(|sentence| format!("{sentence}\n")).collect();
    print(&format!("{} points, drawn in {}\n{caption}", drawn.points, out.display()))
}

/// What a map shows.
#[derive(Debug, Clone, Args)]
pub(super) struct MapChoices {
    /// Of a map, only points with this value of an input; once for each input, where points differ in more than two
    #[arg(long, value_name = "INPUT=VALUE", requires = "map")]
    slice: Vec<MapSlice>,
    /// Of a map, hatch cells whose noise_sd is larger, too [default: those alone of which less than half is known]
    #[arg(long, value_name = "SD", requires = "map", allow_negative_numbers = true)]
    mask: Option<f64>,
    /// Of a map, the column that is the longitude [default: by the name]
    #[arg(long, value_name = "COLUMN", requires = "map")]
    lon: Option<String>,
    /// Of a map, the column that is the latitude [default: by the name]
    #[arg(long, value_name = "COLUMN", requires = "map")]
    lat: Option<String>,
    /// Of a map, its title [default: one that names the columns]
    #[arg(long, value_name = "TEXT", requires = "map")]
    title: Option<String>,
    /// Of a map, the unit of the target
    #[arg(long, value_name = "TEXT", requires = "map")]
    unit: Option<String>,
}

/// A map beside predictions.
#[derive(Debug, Args)]
pub(super) struct MapTarget {
    /// Draw the predictions, too, as `dpgp map` does: by the ending SVG, HTML or GeoJSON; never over a file that is there
    #[arg(long, value_name = "FILE", conflicts_with = "preview")]
    map: Option<PathBuf>,
    #[command(flatten)]
    choices: MapChoices,
}

impl MapTarget {
    /// The file, if there is to be one.
    pub fn file(&self) -> Option<&Path> {
        self.map.as_deref()
    }

    /// Makes sure that it can be written.
    pub fn open(&self) -> Result<Option<NewMap>, CliError> {
        self.file().map(|path| NewMap::open(path, &self.choices)).transpose()
    }
}

/// A map that can be written.
pub(super) struct NewMap {
    path: PathBuf,
    file: NewFile,
    format: MapFormat,
    options: MapOptions,
}

impl NewMap {
    /// Refuses an ending that means no map, and a file that is there.
    pub fn open(path: &Path, choices: &MapChoices) -> Result<Self, CliError> {
        let format = MapFormat::from_path(path).ok_or_else(|| CliError::MapEnding(path.to_path_buf()))?;
        let file = open_new(path)?;
        let MapChoices { slice, mask, lon, lat, title, unit } = choices.clone();
        let options = MapOptions { slices: slice, mask, longitude: lon, latitude: lat, title, unit };
        Ok(Self { path: path.to_path_buf(), file, format, options })
    }

    /// Refuses points that make no map, whatever is predicted there.
    pub fn tried(&self, csv: &str) -> Result<(), CliError> {
        let blank = ReleasedPredictions::parse(&self.path, csv, CertificateSummary::none())?;
        draw_map(&blank, &self.options, self.format)?;
        Ok(())
    }

    /// Draws predictions from the text of their file and what may be said of them.
    pub fn write_csv(self, csv: &str, statement: CertificateSummary) -> Result<DrawnMap, CliError> {
        let released = ReleasedPredictions::parse(&self.path, csv, statement)?;
        self.write(&released)
    }

    /// Draws predictions, and writes the file.
    pub fn write(mut self, released: &ReleasedPredictions) -> Result<DrawnMap, CliError> {
        let drawn = draw_map(released, &self.options, self.format)?;
        let written = self.file.fill(drawn.text.as_bytes()).and_then(|()| self.file.finish());
        written.map_err(|cause| refused(&self.path, cause))?;
        Ok(drawn)
    }
}

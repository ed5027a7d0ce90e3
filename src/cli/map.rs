//! `dpgp map`, and the map of `dpgp predict --map`, whose file is opened before anything is computed.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::OutputFormat;
use super::output::{new_file_error, open_new, print, print_json};
use dpgp_fs::AtomicNewFile;
use dpgp_release::{CertificateSummary, PredictionsFileContents};
use dpgp_report::{DrawnMap, MapFormat, MapOptions, MapOutline, MapSlice, ValueScaleEnds, draw_map};

const EXAMPLES: &str = "\
Draws a file from `dpgp predict`. If points differ in one input, the map shows the private mean with two bands: one for the privacy
noise alone, and one for the whole interval. If this input is categorical, the map shows a bar for each category, with the same
intervals. If points differ in two inputs, the map shows cells coloured by the private mean, and hatches cells that are too uncertain.
Inputs recognised by name as longitude and latitude are drawn in their true proportions.

The map is drawn only from the file and the certificate beside it, so it costs no privacy. The caption states the guarantee if there
is a valid certificate. Otherwise the caption says that nothing is claimed.

FILE ends in .svg (a drawing), .html (a page that needs no network, with a table and the numbers of each cell) or .geojson (cells
by longitude and latitude, for map software).

Examples:
  dpgp map p.csv --out map.html
  dpgp map p.csv --out map.svg --title 'How long trips take' --unit minutes
  dpgp map p.csv --out map.svg --mask 50                  also hatch cells whose noise_sd is above 50
  dpgp map p.csv --out map.svg --slice hour=8             for points that differ in more than two inputs
  dpgp map may.csv --out may.svg --scale 10..30           the same colour scale as for another month
  dpgp map p.csv --out map.html --outline districts.geojson          with lines from a public file
  dpgp map p.csv --out map.geojson --lon x --lat y        name the columns of longitude and latitude
  dpgp predict my.toml --grid auto --map map.html --out p.csv         release and draw in one command";

/// Arguments of `dpgp map`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MapArguments {
    /// A CSV file from `dpgp predict`
    #[arg(value_name = "PREDICTIONS")]
    predictions: PathBuf,
    /// The new file to write, .svg, .html or .geojson; never overwrites an existing file
    #[arg(id = "map", long = "out", value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    choices: MapOptionArguments,
}

/// Draws released predictions.
pub fn map(arguments: &MapArguments, format: OutputFormat) -> Result<(), CliError> {
    let MapArguments { predictions, out, choices } = arguments;
    let file = MapRequest::new(out, choices)?.open()?;
    let drawn = file.write(&PredictionsFileContents::read(predictions)?)?;
    if format == OutputFormat::Json {
        return print_json(&json!({ "written": out, "map": drawn.summary_json() }));
    }
    let caption: String = drawn.caption.iter().map(|sentence| format!("{sentence}\n")).collect();
    print(&format!("{} points drawn, written to {}\n{caption}", drawn.points, out.display()))
}

/// Options of a map.
#[derive(Debug, Clone, Args)]
pub(super) struct MapOptionArguments {
    /// Map only the points with this value of an input; repeat to fix several inputs
    #[arg(long, value_name = "INPUT=VALUE", requires = "map")]
    slice: Vec<MapSlice>,
    /// Also hatch cells whose noise_sd is above this number [default: hatch only cells with less than half of the variance explained]
    #[arg(long, value_name = "SD", requires = "map", allow_negative_numbers = true)]
    mask: Option<f64>,
    /// Bounds of the colour scale or of the value axis, so that maps can be compared; numbers beyond a bound are drawn at the bound
    /// [default: the range of the values on the map]
    #[arg(long, value_name = "LOW..HIGH", requires = "map", allow_hyphen_values = true)]
    scale: Option<ValueScaleEnds>,
    /// A public GeoJSON file whose lines and borders are drawn over a map of longitude and latitude
    #[arg(long, value_name = "GEOJSON", requires = "map")]
    outline: Option<PathBuf>,
    /// The longitude column [default: recognised by name]
    #[arg(long, value_name = "COLUMN", requires = "map")]
    lon: Option<String>,
    /// The latitude column [default: recognised by name]
    #[arg(long, value_name = "COLUMN", requires = "map")]
    lat: Option<String>,
    /// Title of the map [default: made from the column names]
    #[arg(long, value_name = "TEXT", requires = "map")]
    title: Option<String>,
    /// Unit of the target on the map
    #[arg(long, value_name = "TEXT", requires = "map")]
    unit: Option<String>,
}

/// A map beside predictions.
#[derive(Debug, Args)]
pub(super) struct MapFileArguments {
    /// Also draw the predictions to this new .svg, .html or .geojson file, as `dpgp map` does; never overwrites an existing file
    #[arg(long, value_name = "FILE", conflicts_with = "preview")]
    map: Option<PathBuf>,
    #[command(flatten)]
    choices: MapOptionArguments,
}

impl MapFileArguments {
    /// Returns the file of the map, if one is wanted.
    pub fn file(&self) -> Option<&Path> {
        self.map.as_deref()
    }

    /// Reads the options of the map, if one is wanted. Writes nothing.
    pub fn read_request(&self) -> Result<Option<MapRequest>, CliError> {
        self.file().map(|path| MapRequest::new(path, &self.choices)).transpose()
    }
}

/// A map that may be written.
pub(super) struct MapRequest {
    path: PathBuf,
    format: MapFormat,
    options: MapOptions,
}

impl MapRequest {
    /// Reads the options. Fails for an unknown ending, and for an outline that cannot be read.
    fn new(path: &Path, choices: &MapOptionArguments) -> Result<Self, CliError> {
        let format = MapFormat::from_path(path).ok_or_else(|| CliError::MapEnding(path.to_path_buf()))?;
        let MapOptionArguments { slice, mask, scale, outline, lon, lat, title, unit } = choices.clone();
        let outline = outline.as_deref().map(MapOutline::read).transpose()?;
        let options = MapOptions { slices: slice, mask, title, unit, longitude: lon, latitude: lat, scale, outline };
        Ok(Self { path: path.to_path_buf(), format, options })
    }

    /// Opens the new file, to be sure that it can be written. Fails if it exists.
    pub fn open(self) -> Result<NewMapFile, CliError> {
        Ok(NewMapFile { file: open_new(&self.path)?, wanted: self })
    }
}

/// A map that can be written.
pub(super) struct NewMapFile {
    wanted: MapRequest,
    file: AtomicNewFile,
}

impl NewMapFile {
    /// Fails if the points cannot be drawn, whatever their predictions are.
    pub fn check_points(&self, csv: &str) -> Result<(), CliError> {
        let MapRequest { path, format, options } = &self.wanted;
        let blank = PredictionsFileContents::parse(path, csv, CertificateSummary::without_certificate())?;
        draw_map(&blank, options, *format)?;
        Ok(())
    }

    /// Draws predictions from the text of their file and a summary of their certificate, and writes the map.
    pub fn write_from_csv(self, csv: &str, statement: CertificateSummary) -> Result<DrawnMap, CliError> {
        let released = PredictionsFileContents::parse(&self.wanted.path, csv, statement)?;
        self.write(&released)
    }

    /// Draws predictions, and writes the file.
    pub fn write(mut self, released: &PredictionsFileContents) -> Result<DrawnMap, CliError> {
        let MapRequest { path, format, options } = &self.wanted;
        let drawn = draw_map(released, options, *format)?;
        let written = self.file.append_bytes(drawn.text.as_bytes()).and_then(|()| self.file.finish());
        written.map_err(|cause| new_file_error(path, cause))?;
        Ok(drawn)
    }
}

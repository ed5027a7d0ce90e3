//! `dpgp map`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::map_file::{MapChoices, NewMap};
use super::options::Format;
use super::output::{print, print_json};
use dpgp_release::ReleasedPredictions;

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

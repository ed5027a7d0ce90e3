//! `dpgp predict`.
//!
//! Where to predict.
//!
//! `dpgp predict --from`: predictions from released moments, at no further cost.
//!
//! `dpgp predict --preview`: what predictions would be worth, before anything is spent.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use serde_json::json;

use super::CliError;
use super::map::{MapTarget, NewMap};
use super::options::{Format, LedgerArguments, Places, balance, counted, distinct, experiments, known_place};
use super::output::{complain, print, print_json, write_new};
use super::release_types::PreviewOutput;
use super::waiting::Waiting;
use dpgp_data::rows::ensure_addresses;
use dpgp_data::whole_text;
use dpgp_fs::with_ending;
use dpgp_gp::kernel::KernelSetting;
use dpgp_number::{Epsilon, Positive};
use dpgp_release::{
    CertificateSummary, Charged, GridChoice, MomentsFile, OtherModel, PointsFile, PredictionFiles,
    PredictionForm, PredictionRequest, PrivatePredictions, PublicPoints, ReleaseError, SigningKey, Terms,
    chosen_cell, publish, refuse_private_filter, write_predictions,
};
use dpgp_report::{DrawnMap, PublishError, WantedError, exact, folded, plain_table, preview_svg, short};
use dpgp_run::{Clipped, watcher};
use dpgp_task::{Preview, PreviewedOver};

const EXAMPLES: &str = "\
The model of the spec is fitted to all rows. The noise comes from the operating system, so that nobody can subtract it,
and no two calls give the same numbers: each call is one more release, and what they cost adds up. A ledger counts them,
known by the rows whatever file they stand in, and written before the predictions are. It is kept in the state folder
(DPGP_STATE) unless --ledger names another place. With a budget it refuses what the budget does not hold.

A row that lacks a cell that is read is an error, unless the spec says data.missing = \"drop\": then rows without an input are
left out, and where whole records are private those without a target, too. Nothing says how many.

FILE.csv holds the inputs of the grid and private_mean, gp_sd, noise_sd, low, high (95 % interval of the function);
FILE.csv.certificate.json says what is guaranteed and what is not. FILE.parquet has the same columns, FILE.json a list of records.

Examples:
  dpgp predict my.toml --at grid.csv --preview                what each epsilon is worth; nothing is spent
  dpgp predict my.toml --at grid.csv --preview --figure worth.svg --error 5     drawn, with the epsilon that errs by 5
  dpgp predict my.toml --at grid.csv --out predictions.csv
  dpgp predict my.toml --grid auto --out p.csv     at the places that the spec names: its map, else the box of its inputs
  dpgp predict my.toml --grid 'lon=-74.02..-73.93:40,lat=40.7..40.8:40,hour=8' --out p.csv
  dpgp predict my.toml --grid auto --map map.html --out p.csv      with a picture, as `dpgp map` draws it
  dpgp predict my.toml --at grid.csv --weights visits --out p0.csv      the column visits says how much each point counts
  dpgp predict my.toml --at grid.csv --out p1.csv --budget-epsilon 2 --budget-delta 1e-5     a budget from now on
  dpgp predict my.toml --at grid.csv --out p2.csv --ledger my-data.ledger.toml
  dpgp predict my.toml --at grid.csv --out p3.csv --sign ~/.ssh/id_ed25519
  dpgp predict my.toml --at grid.csv --cell epsilon=0.5 --cell method=sparse > predictions.csv
  dpgp predict --from surface.json --at other.csv --kernel 'eq = { variance = 0.5, lengthscale = 20.0 }'     from released moments
  dpgp ledger show my.toml";

/// `dpgp predict`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PredictArguments {
    /// The path of a spec (or the name of an experiment) with task.regression, task.prediction or task.surface
    #[arg(value_name = "SPEC", required_unless_present = "from", add = experiments())]
    spec: Option<String>,
    #[command(flatten)]
    points: PointsArguments,
    /// Which cell, where the spec has several; once for each axis
    #[arg(long, value_name = "AXIS=VALUE")]
    cell: Vec<String>,
    /// Where the predictions are written, as .csv, .parquet or .json; never over a file that is there [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    map: MapTarget,
    #[command(flatten)]
    released: FromArguments,
    #[command(flatten)]
    preview: PreviewArguments,
    /// Sign the certificate with this SSH key, private or held by an agent: FILE.certificate.json.sig is what
    /// `ssh-keygen -Y sign -n dpgp-release` makes
    #[arg(long, value_name = "KEY", requires = "out")]
    sign: Option<PathBuf>,
    #[command(flatten)]
    ledger: LedgerArguments,
    /// Release in spite of exceptions to the guarantee, for example statistics of private targets in the spec, or a delta that
    /// is not below one over the number of rows
    #[arg(long)]
    allow_caveats: bool,
    /// Say how many targets were clipped, which is private: for the holder of the data alone
    #[arg(long)]
    for_holder: bool,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    places: Places,
}

/// Releases predictions: the ledger is charged, then the noise is drawn, then the file is written.
pub fn predict(arguments: &PredictArguments, format: Format) -> Result<(), CliError> {
    // Before any row is read or a state folder made.
    arguments.out.as_deref().map(PredictionForm::from_path).transpose()?;
    if let Some(from) = &arguments.released.from {
        distinct(&targets(arguments))?;
        let (points, map) = (arguments.points.chosen(), arguments.map.open()?);
        return arguments.released.predict(from, points, arguments.out.as_deref(), map, format);
    }
    let project = arguments.places.project()?;
    let experiment = project.only(arguments.spec.as_deref().unwrap_or_default())?;
    let cell = chosen_cell(&experiment, &arguments.cell)?;
    refuse_private_filter(cell.setting(), arguments.allow_caveats)?;
    let source = cell.setting().data.source.own_file().map(Path::new);
    ensure_addresses(source.into_iter().chain(arguments.points.at.as_deref()))?;
    let watcher = watcher(arguments.quiet);
    let points = arguments.points.chosen();
    if arguments.preview.preview {
        // What earlier releases protect is no public input of a preview; nothing is written, not even to the state folder.
        let (downloads, place) = (watcher.downloads(), known_place()?);
        let request =
            PredictionRequest::read(&project, &experiment, cell, points, downloads, place.as_ref())?;
        return preview(&request, &experiment.meta.title, &arguments.preview, arguments.quiet, format);
    }
    distinct(&targets(arguments))?;
    let (place, downloads) = (arguments.ledger.place()?, watcher.downloads());
    let signing = arguments.sign.as_deref().map(SigningKey::tried).transpose();
    let signing = signing.map_err(ReleaseError::CannotSign)?;
    // A file that cannot be written is refused before anything is computed.
    let files = arguments.out.as_deref().map(|out| PredictionFiles::open(out, signing.as_ref()));
    let files = files.transpose()?;
    let map = arguments.map.open()?;
    let request = PredictionRequest::read(&project, &experiment, cell, points, downloads, place.as_ref())?;
    if let Some(map) = &map {
        map.tried(&request.blank_csv()?)?;
    }
    let waiting = Waiting::on("fitting the model and designing the noise", arguments.quiet);
    let designed = || {
        drop(waiting);
        Ok(())
    };
    let clipped = request.clipped().filter(|_| arguments.for_holder);
    let terms = Terms { place: place.as_ref(), allow_exceptions: arguments.allow_caveats };
    publish(&request, &terms, designed, |charged| show(charged, files, map, clipped, arguments, format))
}

/// Writes what was charged, and says what it is.
fn show(
    charged: &Charged<PrivatePredictions<'_>>,
    files: Option<PredictionFiles<'_>>,
    map: Option<NewMap>,
    clipped: Option<Clipped>,
    arguments: &PredictArguments,
    format: Format,
) -> Result<(), CliError> {
    let written = files.map(|files| files.write(charged)).transpose()?;
    // What was released is shown whatever becomes of its picture.
    let drawn = map.map(|map| draw(map, charged)).transpose();
    let mut summary = summary(charged, clipped, arguments);
    if let (Ok(_), Some(map)) = (&drawn, arguments.map.file()) {
        summary.push_str(&format!("drawn in {}\n", map.display()));
    }
    match (written, format) {
        (Some(_), Format::Text) => print(&summary),
        (Some(certificate), Format::Json) => {
            print_json(&json!({ "written": arguments.out, "certificate": certificate }))
        }
        (None, Format::Json) => {
            let certificate = charged.certificate_json(charged.csv()?.as_bytes());
            print_json(&json!({ "certificate": certificate, "predictions": charged.json() }))
        }
        (None, Format::Text) => {
            print(&charged.csv()?)?;
            complain(summary.trim_end());
            Ok(())
        }
    }?;
    drawn.map(drop)
}

/// The picture of a release, by its certificate.
fn draw(map: NewMap, charged: &Charged<PrivatePredictions<'_>>) -> Result<DrawnMap, CliError> {
    let csv = charged.csv()?;
    let certificate = charged.certificate_json(csv.as_bytes()).to_string();
    map.write_csv(&csv, CertificateSummary::parse(Path::new("certificate"), &certificate, Some(&csv))?)
}

/// What is said of a release: the guarantee, what it leaves out, what is left of the budget, and, to the holder of the data, how
/// many targets were clipped.
fn summary(
    charged: &Charged<PrivatePredictions<'_>>,
    clipped: Option<Clipped>,
    arguments: &PredictArguments,
) -> String {
    let certificate = charged.certificate();
    let points = counted(charged.points(), "point", "points");
    let mut text =
        format!("predictions at {points}{}\n", arguments.out.as_deref().map(written).unwrap_or_default());
    if arguments.sign.is_some() {
        text.push_str("the certificate is signed: its name and .sig\n");
    }
    text.push_str(&format!("guarantee: {certificate}\n"));
    let delta = certificate.delta_exact.map(short).unwrap_or_default();
    text.push_str(&format!("exact delta at that epsilon: {delta}; randomness of the operating system\n"));
    if let Some(wider) = charged.whole_width() {
        text.push_str(&format!("{wider}\n"));
    }
    for line in charged.all_warnings() {
        text.push_str(&format!("warning: {line}\n"));
    }
    for line in charged.not_covered() {
        text.push_str(&format!("not covered: {line}\n"));
    }
    if let Some(delta) = certificate.delta() {
        text.push_str(&balance(charged.receipt(), delta));
    }
    if let Some(clipped) = clipped {
        text.push_str(&format!("{clipped}\n"));
    }
    text
}

/// The files that are written.
fn targets(arguments: &PredictArguments) -> Vec<PathBuf> {
    let mut targets = arguments.ledger.files();
    targets.extend(arguments.map.file().map(Path::to_path_buf));
    if let Some(out) = &arguments.out {
        let endings = ["", ".certificate.json", ".certificate.json.sig"];
        targets.extend(endings.map(|ending| with_ending(out, ending)));
    }
    targets
}

fn written(out: &Path) -> String {
    let out = out.display();
    format!(", written to {out}; what they guarantee stands in {out}.certificate.json")
}

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

/// The options of predictions from a file.
#[derive(Debug, Args)]
pub struct FromArguments {
    /// Predict from moments that `dpgp stats --release` wrote, instead of rows: nothing is released, and nothing charged
    #[arg(long, value_name = "RELEASE", conflicts_with_all = ["spec", "weights", "cell", "preview", "sign", "ledger", "no_ledger",
        "budget_epsilon", "other_people", "allow_caveats", "for_holder"])]
    pub from: Option<PathBuf>,
    /// With --from: another kernel, as a line of a spec
    #[arg(long, value_name = "KERNEL", requires = "from", value_parser = kernel)]
    kernel: Option<KernelSetting>,
    /// With --from: another noise variance, in squared units of the normalised target
    #[arg(long, value_name = "VARIANCE", requires = "from", value_parser = positive)]
    noise_variance: Option<Positive>,
}

impl FromArguments {
    /// Predicts at public points.
    pub fn predict(
        &self,
        from: &Path,
        at: PublicPoints<'_>,
        out: Option<&Path>,
        map: Option<NewMap>,
        format: Format,
    ) -> Result<(), CliError> {
        let file = MomentsFile::read(from)?;
        let guarantee = file.guarantee().to_owned();
        let other = OtherModel { kernel: self.kernel.clone(), noise_variance: self.noise_variance };
        let predictions = file.predict(at, other)?;
        predictions.warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
        if let Some(out) = out {
            write_predictions(out, &predictions)?;
        }
        if let Some(map) = map {
            map.write_csv(&predictions.csv()?, statement(from)?)?;
        }
        match (out, format) {
            (Some(out), Format::Json) => print_json(&json!({ "written": out, "guarantee": guarantee })),
            (None, Format::Json) => {
                print_json(&json!({ "guarantee": guarantee, "predictions": predictions.json() }))
            }
            (Some(out), Format::Text) => print(&format!(
                "predictions at {}, written to {}\nnothing was released: they follow from {}, whose guarantee covers them: {guarantee}\n",
                counted(predictions.points(), "point", "points"),
                out.display(),
                from.display()
            )),
            (None, Format::Text) => print(&predictions.csv().map_err(dpgp_release::ReleaseError::from)?),
        }
    }
}

/// What is guaranteed of the file, and so of all that follows from it.
fn statement(from: &Path) -> Result<CertificateSummary, CliError> {
    let text = whole_text(from).map_err(CliError::io(from))?;
    Ok(CertificateSummary::parse(from, &text, None)?)
}

fn kernel(text: &str) -> Result<KernelSetting, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

fn positive(text: &str) -> Result<Positive, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Positive::new(number).map_err(|error| error.to_string())
}

/// Between these an epsilon is searched, to a relative accuracy of one per cent.
const SEARCHED: (f64, f64) = (1e-3, 1e3);
const ACCURACY: f64 = 1.01;

/// What a preview is asked.
#[derive(Debug, Args)]
pub(super) struct PreviewArguments {
    /// Release nothing: say what predictions would err by at each epsilon under the model, by public things alone
    #[arg(long, conflicts_with_all = ["out", "sign"])]
    pub preview: bool,
    /// The epsilons of a preview
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = finite_epsilon, requires = "preview",
        default_value = "0.1,0.2,0.5,1,2,5,10")]
    epsilons: Vec<Epsilon>,
    /// Which epsilon gives predictions that err by no more than this, in units of the target
    #[arg(long, value_name = "ERROR", requires = "preview", allow_negative_numbers = true)]
    error: Option<f64>,
    /// Draw the preview as SVG, too; never over a file that is there
    #[arg(long, value_name = "FILE", requires = "preview")]
    figure: Option<PathBuf>,
}

/// Prints what is expected at each epsilon and, for an error that is wanted, the least epsilon that reaches it. A figure is all that
/// is written.
pub(super) fn preview(
    request: &PredictionRequest<'_>,
    title: &str,
    arguments: &PreviewArguments,
    quiet: bool,
    format: Format,
) -> Result<(), CliError> {
    let figure = arguments.figure.as_deref();
    // Before anything is computed, which may take long.
    if let Some(path) = figure.filter(|path| path.symlink_metadata().is_ok()) {
        return Err(CliError::Exists(path.to_path_buf()));
    }
    let waiting = Waiting::on("computing what each epsilon is worth", quiet);
    let preview = request.preview(&arguments.epsilons)?;
    let wanted = arguments.error.map(|error| wanted(request, error)).transpose()?;
    drop(waiting);
    if let Some(path) = figure {
        let svg = preview_svg(title, &preview, wanted).map_err(PublishError::from)?;
        write_new(path, &svg)?;
    }
    if format == Format::Json {
        let (error, epsilon) = (arguments.error, wanted.and_then(|wanted| wanted.epsilon));
        let figure = figure.map(Path::to_path_buf);
        return print_json(&json!(PreviewOutput { preview, wanted: error, epsilon, figure }));
    }
    print(&said(&preview, wanted, figure))
}

fn said(preview: &Preview, wanted: Option<WantedError>, figure: Option<&Path>) -> String {
    let mut text = table(preview);
    if let Some(path) = figure {
        text.push_str(&format!("drawn in {}\n", path.display()));
    }
    if let Some(WantedError { error, epsilon }) = wanted {
        text.push_str(&match epsilon {
            Some(epsilon) => format!("an error of {} needs epsilon = {}\n", short(error), short(epsilon)),
            None => format!("no epsilon up to {} reaches an error of {}\n", SEARCHED.1, short(error)),
        });
    }
    text
}

fn table(preview: &Preview) -> String {
    let headings = ["epsilon", "noise", "expected error", "of a private mean", "numbers released"];
    let table = plain_table(&headings, preview_rows(preview).into_iter());
    let below = what_is_priced(&[preview.over]);
    format!("{table}{}", folded(&format!("{below}{}{}", no_better_weights(preview), no_better(preview, ""))))
}

/// What stands below a table of prices.
pub(super) fn what_is_priced(previewed: &[PreviewedOver]) -> String {
    let boxes = previewed.iter().filter(|over| **over == PreviewedOver::Box).count();
    let over = match boxes {
        0 => "the points",
        all if all == previewed.len() => "the whole box, with rows spread over it, whatever the points",
        _ => "the points (of moments: the whole box, with rows spread over it)",
    };
    format!(
        "root mean squares over {over}, in units of the target, under the model: if its prior is right; a function that varies less than its variance \
         says, or faster than its lengthscales, gains less\n\
         of a private mean: the error of one number for all points, the mean of all targets with the noise of the same guarantee\n\
         no target was used, and nothing is charged\n"
    )
}

/// The rows of a table of prices: the epsilons between both ends.
pub(super) fn preview_rows(preview: &Preview) -> Vec<Vec<String>> {
    let first = std::iter::once(end("nothing is released", preview.prior));
    let last = std::iter::once(end("without privacy", preview.without_privacy));
    let rows = preview.expected.iter().map(|row| {
        let [noise, error, constant] = [row.noise, row.error, row.constant].map(short);
        vec![exact(row.epsilon.get()), noise, error, constant, row.released.to_string()]
    });
    first.chain(rows).chain(last).collect()
}

/// The sentence that names the epsilons at which one number for all points would do, of a setting if it has a name; nothing if there are none.
pub(super) fn no_better(preview: &Preview, setting: &str) -> String {
    let worse = preview.expected.iter().filter(|row| row.error >= row.constant);
    let worse: Vec<String> = worse.map(|row| exact(row.epsilon.get())).collect();
    if worse.is_empty() {
        return String::new();
    }
    let setting = if setting.is_empty() { String::new() } else { format!("{setting}: ") };
    format!(
        "warning: {setting}no better than a private mean of all targets at epsilon = {}: more rows, a longer lengthscale or tighter bounds are needed\n",
        worse.join(", ")
    )
}

/// How far other weights of the moments could be better; nothing for other mechanisms.
fn no_better_weights(preview: &Preview) -> String {
    let shares = preview.expected.iter().filter_map(|row| Some(row.least? / row.error));
    let Some(least) = shares.reduce(f64::min) else { return String::new() };
    format!(
        "of moments: no other choice of their weights could err by less than {} % of the expected error\n",
        (100.0 * least).floor()
    )
}

/// A row without an epsilon.
fn end(name: &str, error: f64) -> Vec<String> {
    vec![name.to_owned(), String::new(), short(error), String::new(), String::new()]
}

/// The least epsilon whose expected error is at most the one that is wanted.
fn wanted(request: &PredictionRequest<'_>, error: f64) -> Result<WantedError, CliError> {
    let (mut low, mut high) = SEARCHED;
    if !reaches(request, high, error)? {
        return Ok(WantedError { error, epsilon: None });
    }
    // The error falls as epsilon grows.
    while high > low * ACCURACY {
        let middle = (low * high).sqrt();
        if reaches(request, middle, error)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(WantedError { error, epsilon: Some(high) })
}

fn reaches(request: &PredictionRequest<'_>, at: f64, wanted: f64) -> Result<bool, CliError> {
    let Ok(epsilon) = Epsilon::new(at) else { return Ok(false) };
    let preview = request.preview(&[epsilon])?;
    Ok(preview.expected.iter().all(|row| row.error <= wanted))
}

pub(super) fn finite_epsilon(text: &str) -> Result<Epsilon, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let epsilon = Epsilon::new(number).map_err(|wrong| wrong.to_string())?;
    if epsilon.is_unprotected() {
        Err("an infinite epsilon protects nothing".to_owned())
    } else {
        Ok(epsilon)
    }
}

//! `dpgp predict`: private predictions at public points.
//!
//! A release goes through these steps: refuse, read, charge, draw, write. The order is part of the privacy argument, see [`predict`].
//! `--preview` computes expected errors and spends nothing. `--from` predicts from released moments, counts or
//! published numbers at no further privacy cost.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use serde_json::json;

use super::CliError;
use super::map::{MapFileArguments, MapRequest, NewMapFile};
use super::options::{
    DataLocationArguments, OutputFormat, ReleaseLedgerArguments, add_option_conflicts, balance_text,
    ensure_distinct_paths, existing_ledger_place, experiment_completer, parse_number,
};
use super::output::Spinner;
use super::output::{print, print_json, print_stderr};
use super::predict_together::{AnswerWeight, predict_together, preview_together};
use super::preview::{PreviewArguments, preview};
use super::published::{PUBLISHERS_GUARANTEE, PublishedArguments};
use dpgp_data::read_limited_text;
use dpgp_data::rows::ensure_readable_addresses;
use dpgp_fs::SigningKey;
use dpgp_gp::kernel::KernelSetting;
use dpgp_number::Positive;
use dpgp_number::text::count_with_noun;
use dpgp_release::{
    CERTIFICATE_ENDING, CertificateSummary, CountsFile, DrawnRelease, GridChoice, ModelOverride, MomentsFile,
    NamedAreas, NewTargetCombinationsFile, PointsFile, PostprocessedPredictions, PredictionFiles, PredictionFormat,
    PredictionRequest, PrivatePredictions, PublicPoints, ReleaseError, ReleaseOptions, TargetCombinationsFile,
    charge_draw_and_write, prediction_paths, refuse_private_filter, select_release_cell, write_predictions,
};
use dpgp_report::{DrawnMap, format_four_digits};
use dpgp_run::{ClippedCounts, Project, clip_inside_bounds_warning, create_watcher};
use dpgp_spec::SpecChange;
use dpgp_spec::setting::SourceSetting;
use dpgp_task::{CellSetting, Experiment};

const EXAMPLES: &str = "\
The model in the spec is fitted to all rows. The noise comes from the operating system, so nobody can subtract it, and no two
runs give the same numbers. Each run is a separate release, and the privacy losses of all runs add up. A ledger records each release before
its predictions are written. dpgp finds the ledger by the contents of the rows, not by the name of the file. The ledger is in the state
folder (DPGP_STATE) unless --ledger names another file. If the ledger has a budget, a release that would exceed it is refused.

A row with a required cell missing is an error, unless the spec has data.missing = \"drop\". With that setting, rows with a missing
input are left out. Rows with a missing target are also left out if whole records are private. The number of rows left out is not
reported.

FILE.csv holds the inputs of the points, private_mean, gp_sd, noise_sd, and low and high (the 95 % interval of the function).
FILE.csv.certificate.json states the guarantee and its limits. FILE.parquet has the same columns, and FILE.json a list of records.

Examples:
  dpgp predict my.toml --at grid.csv --preview                the expected error at each epsilon; spends nothing
  dpgp predict my.toml --at grid.csv --preview --figure worth.svg --error 5     as a figure, with the epsilon for an error of 5
  dpgp predict my.toml --at grid.csv --out predictions.csv
  dpgp predict my.toml --grid auto --out p.csv     at the points that the spec names: its map, else the box of its inputs
  dpgp predict my.toml --grid 'lon=-74.02..-73.93:40,lat=40.7..40.8:40,hour=8' --out p.csv
  dpgp predict my.toml --grid auto --map map.html --out p.csv      with a map, as `dpgp map` draws it
  dpgp predict my.toml --at grid.csv --weights visits --out p0.csv      each point weighted by the column visits
  dpgp predict my.toml --at grid.csv --out p1.csv --budget-epsilon 2 --budget-delta 1e-5     sets a budget
  dpgp predict my.toml --at grid.csv --out p2.csv --ledger my-data.ledger.toml
  dpgp predict my.toml --grid auto --out p3.csv --release r.json      then, at no further cost: dpgp predict --from r.json
  dpgp predict my.toml --at grid.csv --out p3.csv --sign ~/.ssh/id_ed25519
  dpgp predict my.toml --at grid.csv --cell epsilon=0.5 --cell method=sparse > predictions.csv
  dpgp predict my.toml --at grid.csv --out p4.csv --set privacy.epsilon=0.5     override a setting; the certificate records the change
  dpgp predict --from surface.json --at other.csv --kernel 'eq = { variance = 0.5, lengthscale = 20.0 }'     from released moments
  dpgp predict --from counts.json --grid auto --map counts.html --out counts.csv      the count of each bin, with most of the noise removed
  dpgp predict --from counts.json --areas districts.geojson --area-id name --out districts.csv      the count of each district
  dpgp predict --from ages.csv --inputs age --target count --noise discrete-gaussian=30 --grid auto     from published noisy numbers
  dpgp predict counts.toml means.toml --together --grid auto --out released      several answers, one budget, one charge
  dpgp predict counts.toml --grid auto --out counts.csv --map counts.html      counts of rows (`dpgp new --count`) in one step
  dpgp ledger show my.toml";

/// Arguments of `dpgp predict`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| add_option_conflicts(arg, &["epsilons", "error", "figure"], &["out", "sign", "from", "together"])),
    mut_args(|arg| add_option_conflicts(arg, &["slice", "mask", "scale", "outline", "lon", "lat", "title", "unit"], &["preview"])),
    mut_args(|arg| add_option_conflicts(arg, &["kernel", "noise_variance", "inputs", "target", "noise"], &["specs", "preview"])),
    mut_args(|arg| add_option_conflicts(arg, &["area_id"], &["at", "grid", "specs"])),
    mut_args(|arg| add_option_conflicts(arg, &["weights"], &["grid", "areas"])),
    mut_args(|arg| add_option_conflicts(arg, &["share"], &["from", "release", "allow_caveats", "for_holder", "no_ledger"]))
)]
pub struct PredictArguments {
    /// The path of a spec (or the name of an experiment) with task.regression, task.prediction, task.surface or task.density
    #[arg(value_name = "SPEC", required_unless_present = "from", add = experiment_completer())]
    pub(super) specs: Vec<String>,
    #[command(flatten)]
    pub(super) points: PointsArguments,
    /// Release the answers of all SPECs, or of all cells of one SPEC, in one charge. All of them must state the same epsilon and
    /// delta, which then cover all answers jointly. --out then names a folder
    #[arg(long, conflicts_with_all = ["from", "release", "allow_caveats", "for_holder", "no_ledger"])]
    together: bool,
    /// With --together: the weight of the answer NAME when the budget is split (in mu^2, which is additive); repeat for each answer
    /// [default: 1]
    #[arg(long, value_name = "NAME=WEIGHT", requires = "together")]
    pub(super) share: Vec<AnswerWeight>,
    /// Choose a cell if the spec has several; repeat for each axis
    #[arg(long, value_name = "AXIS=VALUE")]
    pub(super) cell: Vec<String>,
    /// Change a setting by its path, or an axis by its name, as `dpgp run --set` does; repeat for each path. The certificate and the
    /// ledger name each change. The rows themselves cannot be changed
    #[arg(long, value_name = "PATH=VALUE,...", conflicts_with = "from")]
    pub(super) set: Vec<SpecChange>,
    /// Write predictions to this new .csv, .parquet or .json file; never overwrites an existing file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    map: MapFileArguments,
    #[command(flatten)]
    released: FromReleaseArguments,
    #[command(flatten)]
    pub(super) preview: PreviewArguments,
    /// Also write this new file, from which `dpgp predict --from` predicts at other points. Needs public inputs and
    /// model.averaged = true
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    release: Option<PathBuf>,
    /// Sign the certificate with this SSH key (a private key file, or a key in ssh-agent); writes FILE.certificate.json.sig, as
    /// `ssh-keygen -Y sign -n dpgp-release` does
    #[arg(long, value_name = "KEY", requires = "out")]
    pub(super) sign: Option<PathBuf>,
    #[command(flatten)]
    pub(super) ledger: ReleaseLedgerArguments,
    /// Release despite exceptions to the guarantee, such as statistics of private targets in the spec, or a delta that is not
    /// below 1 / (number of rows)
    #[arg(long)]
    allow_caveats: bool,
    /// For the holder of the data only: print how many targets were clipped. This count is exact: do not publish it
    #[arg(long)]
    for_holder: bool,
    /// No progress bars
    #[arg(long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) places: DataLocationArguments,
}

/// Releases predictions, in the order that privacy needs.
///
/// 1. Refuse: check all that needs no private row. Such an error reveals nothing about rows and spends no budget.
/// 2. Read: load the rows and the public points. [`charge_draw_and_write`] then fits the model, designs the noise, and refuses exceptions to the
///    guarantee unless --allow-caveats.
/// 3. Charge: [`charge_draw_and_write`] enters the cost of the release in the ledger. A spent budget refuses here, before any noise exists.
/// 4. Draw: [`charge_draw_and_write`] draws the noise from the operating system, once.
/// 5. Write: [`write_release`] writes the predictions, their certificate and the map, and prints a summary.
///
/// An error after the charge says that the budget was spent. `--from` and `--preview` return earlier: they charge and draw nothing.
pub fn predict(arguments: &PredictArguments, format: OutputFormat) -> Result<(), CliError> {
    if arguments.together {
        if arguments.map.file().is_some() {
            return Err(CliError::MapOfSeveral);
        }
        return match (arguments.preview.preview, &arguments.out) {
            (true, _) => preview_together(arguments, format),
            (false, Some(folder)) => predict_together(arguments, folder, format),
            (false, None) => Err(CliError::NoFolder),
        };
    }
    // Refuse: several specs, an unknown ending of an output, two equal output paths, or an outline of a map that cannot be read, before any row is read
    // or a state folder is made.
    if arguments.specs.len() > 1 {
        return Err(CliError::SeveralSpecs);
    }
    arguments.out.as_deref().map(PredictionFormat::from_path).transpose()?;
    ensure_distinct_paths(&output_paths(arguments))?;
    let map = arguments.map.read_request()?;
    if let Some(from) = &arguments.released.from {
        let areas = arguments.points.areas()?;
        let (points, map) = (arguments.points.public_points(), map.map(MapRequest::open).transpose()?);
        let at = areas.as_ref().map_or(PointsOrAreas::Points(points), PointsOrAreas::Areas);
        return arguments.released.predict(from, at, arguments.out.as_deref(), map, format);
    }
    if arguments.points.areas.is_some() {
        return Err(CliError::AreasOfRows);
    }
    // Refuse: a wrong spec or cell, a filter on the private target, and malformed addresses.
    let project = arguments.places.project()?;
    let experiment = project.find_one_experiment(arguments.specs.first().map_or("", String::as_str))?;
    let experiment = apply_changes_except_rows(&project, experiment, &arguments.set)?;
    let cell = select_release_cell(&experiment, &arguments.cell)?;
    refuse_private_filter(cell.setting(), arguments.allow_caveats)?;
    let source = cell.setting().data.source.own_file().map(Path::new);
    ensure_readable_addresses(source.into_iter().chain(arguments.points.at.as_deref()))?;
    warn_of_clip_inside_bounds(cell.setting());
    let watcher = create_watcher(arguments.quiet);
    let points = arguments.points.public_points();
    if arguments.preview.preview {
        // A preview may use public facts only. The known ledgers show which inputs earlier releases protect, and such inputs are not
        // public. A preview writes nothing, not even to the state folder.
        let (downloads, place) = (watcher.download_progress(), existing_ledger_place()?);
        let request = PredictionRequest::read(&project, &experiment, cell, points, downloads, place.as_ref())?;
        let options = arguments.preview.with_default_epsilons(cell.setting().privacy.epsilon);
        return preview(&request, &experiment.meta.title, &options, arguments.quiet, format);
    }
    // Refuse: a missing state folder, a key that cannot sign, and output files that exist or cannot be written.
    let (place, downloads) = (arguments.ledger.open_ledger_place()?, watcher.download_progress());
    let signing = arguments.sign.as_deref().map(SigningKey::from_tested_file).transpose();
    let signing = signing.map_err(ReleaseError::CannotSign)?;
    let files = arguments.out.as_deref().map(|out| PredictionFiles::open(out, signing.as_ref()));
    let files = files.transpose()?;
    let map = map.map(MapRequest::open).transpose()?;
    let release = arguments
        .release
        .as_deref()
        .map(|path| NewTargetCombinationsFile::open(path, cell.setting(), signing.as_ref()));
    let outputs = ReleaseOutputFiles { files, map, release: release.transpose()? };
    // Read: the rows of the spec, and the public points.
    let request = PredictionRequest::read(&project, &experiment, cell, points, downloads, place.as_ref())?;
    // Refuse: points that cannot be drawn as a map. The trial holds blank predictions, so it does not depend on targets.
    if let Some(map) = &outputs.map {
        map.check_points(&request.zero_filled_csv()?)?;
    }
    let waiting = Spinner::start("fitting the model and designing the noise", arguments.quiet);
    let designed = || {
        drop(waiting);
        Ok(())
    };
    let clipped = request.count_clipped_targets().filter(|_| arguments.for_holder);
    let terms = ReleaseOptions { place: place.as_ref(), allow_exceptions: arguments.allow_caveats };
    // Charge, draw, write: `show` gets only predictions that were charged and drawn.
    charge_draw_and_write(&request, &terms, designed, |charged| {
        write_release(charged, outputs, clipped, arguments, format)
    })
}

/// Warns on standard error, before any row is read or charged, that targets are clipped inside their bounds.
pub(super) fn warn_of_clip_inside_bounds(setting: &CellSetting) {
    if let Some(warning) = clip_inside_bounds_warning(setting) {
        print_stderr(&format!("warning: {warning}"));
    }
}

/// Changes settings of a spec, but not its rows: these may be private, and the certificate quotes the changes.
pub(super) fn apply_changes_except_rows(
    project: &Project,
    experiment: Experiment,
    set: &[SpecChange],
) -> Result<Experiment, CliError> {
    let sources = |experiment: &Experiment| -> Vec<SourceSetting> {
        experiment.cells.iter().map(|cell| cell.setting().data.source.clone()).collect()
    };
    let own = sources(&experiment);
    let changed = project.change_experiment(experiment, set)?;
    match sources(&changed).iter().all(|source| own.contains(source)) {
        true => Ok(changed),
        false => Err(CliError::OtherRows),
    }
}

/// The output files of a release. They are opened before the charge, so that nothing is spent on a file that cannot be written.
struct ReleaseOutputFiles<'k> {
    files: Option<PredictionFiles<'k>>,
    map: Option<NewMapFile>,
    release: Option<NewTargetCombinationsFile<'k>>,
}

/// Writes charged predictions to their files, and prints a summary.
fn write_release(
    charged: &DrawnRelease<PrivatePredictions<'_>>,
    outputs: ReleaseOutputFiles<'_>,
    clipped: Option<ClippedCounts>,
    arguments: &PredictArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    let ReleaseOutputFiles { files, map, release } = outputs;
    let written = files.map(|files| files.write(charged)).transpose()?;
    release.map(|release| release.write(charged)).transpose()?;
    // The release is shown even if its map fails.
    let drawn = map.map(|map| draw_map(map, charged)).transpose();
    let mut summary = summary(charged, clipped, arguments);
    if let (Ok(_), Some(map)) = (&drawn, arguments.map.file()) {
        summary.push_str(&format!("map written to {}\n", map.display()));
    }
    if let Some(release) = &arguments.release {
        let release = release.display();
        summary
            .push_str(&format!("for predictions at other points at no further cost: dpgp predict --from {release}\n"));
    }
    match (written, format) {
        (Some(_), OutputFormat::Text) => print(&summary),
        (Some(certificate), OutputFormat::Json) => {
            print_json(&json!({ "written": arguments.out, "certificate": certificate }))
        }
        (None, OutputFormat::Json) => {
            let certificate = charged.certificate_json(charged.predictions_csv()?.as_bytes());
            print_json(&json!({ "certificate": certificate, "predictions": charged.predictions_json() }))
        }
        (None, OutputFormat::Text) => {
            print(&charged.predictions_csv()?)?;
            print_stderr(summary.trim_end());
            Ok(())
        }
    }?;
    drawn.map(drop)
}

/// Draws the map of a release, with its certificate.
fn draw_map(map: NewMapFile, charged: &DrawnRelease<PrivatePredictions<'_>>) -> Result<DrawnMap, CliError> {
    let csv = charged.predictions_csv()?;
    let certificate = charged.certificate_json(csv.as_bytes()).to_string();
    map.write_from_csv(&csv, CertificateSummary::parse(Path::new("certificate"), &certificate, Some(&csv))?)
}

/// Describes a release: the guarantee, its limits and the balance of the ledger. `clipped` is private, and is `None` without
/// --for-holder.
fn summary(
    charged: &DrawnRelease<PrivatePredictions<'_>>,
    clipped: Option<ClippedCounts>,
    arguments: &PredictArguments,
) -> String {
    let certificate = charged.certificate();
    let points = count_with_noun(charged.point_count(), "point", "points");
    let mut text =
        format!("predictions at {points}{}\n", arguments.out.as_deref().map(output_location_text).unwrap_or_default());
    if arguments.sign.is_some() {
        text.push_str("the certificate is signed: the signature is in the .sig file beside it\n");
    }
    text.extend(charged.risk_in_words().map(|risk| risk + "\n"));
    text.push_str(&format!("guarantee: {certificate}\n"));
    let delta = certificate.delta_exact.map(format_four_digits).unwrap_or_default();
    text.push_str(&format!("exact delta at this epsilon: {delta}; noise from the operating system\n"));
    if let Some(wider) = charged.whole_width_guarantee() {
        text.push_str(&format!("{wider}\n"));
    }
    for line in charged.all_warnings() {
        text.push_str(&format!("warning: {line}\n"));
    }
    for line in charged.guarantee_limits() {
        text.push_str(&format!("not covered: {line}\n"));
    }
    if let Some(delta) = certificate.delta() {
        text.push_str(&balance_text(charged.receipt(), delta));
    }
    if let Some(clipped) = clipped {
        text.push_str(&format!("{clipped}\n"));
    }
    text
}

/// Lists the output files.
fn output_paths(arguments: &PredictArguments) -> Vec<PathBuf> {
    let mut targets = arguments.ledger.ledger_and_lock_files();
    targets.extend(arguments.map.file().map(Path::to_path_buf));
    targets.extend(arguments.release.clone());
    if let Some(out) = &arguments.out {
        targets.extend(prediction_paths(out));
    }
    targets
}

fn output_location_text(out: &Path) -> String {
    let out = out.display();
    format!(", written to {out}; their guarantee is in {out}{CERTIFICATE_ENDING}")
}

/// Public points, from a file or a grid.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("points to predict at").required(true).args(["at", "grid", "areas"])))]
pub(super) struct PointsArguments {
    /// A CSV or Parquet file with the public inputs to predict at, one column for each input of the spec
    #[arg(long, value_name = "GRID")]
    pub at: Option<PathBuf>,
    /// Instead of a file: `auto` for the points that the spec names (its map, else the box of its inputs), or, for each input,
    /// INPUT=FROM..TO:POINTS or INPUT=VALUE, separated by commas
    #[arg(long, value_name = "POINTS")]
    grid: Option<GridChoice>,
    /// For counts read with --from: estimate the count in each polygon of this public GeoJSON file (coordinates in the units of the inputs)
    #[arg(long, value_name = "GEOJSON", requires = "from")]
    areas: Option<PathBuf>,
    /// With --areas: the property that names an area [default: the id of its feature, else its number]
    #[arg(long, value_name = "PROPERTY", requires = "areas")]
    area_id: Option<String>,
    /// The column of GRID with a public weight for each point; the objective `risk` then minimises the weighted sum of squared errors
    /// [default: equal weights]
    #[arg(long, value_name = "COLUMN", requires = "at")]
    weights: Option<String>,
}

impl PointsArguments {
    /// Reads the areas, if there are any.
    fn areas(&self) -> Result<Option<NamedAreas>, ReleaseError> {
        self.areas.as_deref().map(|path| NamedAreas::read(path, self.area_id.as_deref())).transpose()
    }

    /// Returns the chosen points. The parser ensures that one of the options is present.
    pub fn public_points(&self) -> PublicPoints<'_> {
        match &self.grid {
            Some(grid) => PublicPoints::Grid(grid),
            None => {
                let path = self.at.as_deref().unwrap_or(Path::new(""));
                PublicPoints::File(PointsFile { path, weights: self.weights.as_deref() })
            }
        }
    }
}

/// What to predict from a release: points, or sums over areas.
#[derive(Clone, Copy)]
pub(super) enum PointsOrAreas<'a> {
    Points(PublicPoints<'a>),
    Areas(&'a NamedAreas),
}

/// Options of predictions from released moments or counts.
#[derive(Debug, Args)]
pub struct FromReleaseArguments {
    /// Predict from a file written by `dpgp sum --release` or `dpgp predict --release`, or from numbers that others published with noise
    /// (--noise), instead of from rows; releases and charges nothing
    #[arg(long, value_name = "RELEASE", conflicts_with_all = ["specs", "weights", "cell", "preview", "sign", "ledger", "no_ledger",
        "budget_epsilon", "other_people", "allow_caveats", "for_holder"])]
    pub from: Option<PathBuf>,
    /// With --from: use another kernel, written as in a spec
    #[arg(long, value_name = "KERNEL", requires = "from", value_parser = kernel)]
    kernel: Option<KernelSetting>,
    /// With --from: use another noise variance, in squared units of the normalised target
    #[arg(long, value_name = "VARIANCE", requires = "from", value_parser = parse_number(Positive::new))]
    noise_variance: Option<Positive>,
    #[command(flatten)]
    published: PublishedArguments,
}

impl FromReleaseArguments {
    /// Predicts at public points from released moments, or estimates exact counts or numbers from noisy ones. Reads no private rows and
    /// charges nothing.
    pub fn predict(
        &self,
        from: &Path,
        at: PointsOrAreas<'_>,
        out: Option<&Path>,
        map: Option<NewMapFile>,
        format: OutputFormat,
    ) -> Result<(), CliError> {
        let ComputedPredictions { predictions, guarantee, published } = self.compute(from, at)?;
        predictions.warnings().iter().for_each(|warning| print_stderr(&format!("warning: {warning}")));
        if let Some(out) = out {
            write_predictions(out, &predictions)?;
        }
        if let Some(map) = map {
            map.write_from_csv(&predictions.csv()?, published.map_or_else(|| read_certificate_summary(from), Ok)?)?;
        }
        match (out, format) {
            (Some(out), OutputFormat::Json) => print_json(&json!({ "written": out, "guarantee": guarantee })),
            (None, OutputFormat::Json) => {
                print_json(&json!({ "guarantee": guarantee, "predictions": predictions.json() }))
            }
            (Some(out), OutputFormat::Text) => print(&format!(
                "predictions at {}, written to {}\nnothing more was released: the predictions are computed from {}, whose guarantee \
                 covers them: {guarantee}\n",
                count_with_noun(predictions.point_count(), "point", "points"),
                out.display(),
                from.display()
            )),
            (None, OutputFormat::Text) => print(&predictions.csv().map_err(dpgp_release::ReleaseError::from)?),
        }
    }

    fn compute(&self, from: &Path, at: PointsOrAreas<'_>) -> Result<ComputedPredictions, CliError> {
        let other = ModelOverride { kernel: self.kernel.clone(), noise_variance: self.noise_variance };
        if let Some(numbers) = self.published.read(from)? {
            let PointsOrAreas::Points(at) = at else { return Err(CliError::AreasOfMoments) };
            let published = Some(CertificateSummary::from_published_numbers(numbers.target()));
            let predictions = numbers.predict(at, &other)?;
            return Ok(ComputedPredictions { predictions, guarantee: PUBLISHERS_GUARANTEE.to_owned(), published });
        }
        if let Some(file) = TargetCombinationsFile::read(from)? {
            let PointsOrAreas::Points(at) = at else { return Err(CliError::AreasOfMoments) };
            if other != ModelOverride::default() {
                return Err(CliError::ModelOfCounts);
            }
            let statement = file.certificate_summary()?;
            let guarantee = statement.guarantee.clone().unwrap_or_else(|| statement.said.join(" "));
            return Ok(ComputedPredictions { predictions: file.predict(at)?, guarantee, published: Some(statement) });
        }
        let (guarantee, predictions) = match CountsFile::read(from)? {
            Some(_) if other != ModelOverride::default() => return Err(CliError::ModelOfCounts),
            Some(file) => {
                ensure_release_file_unedited(from)?;
                let guarantee = file.guarantee().to_owned();
                match at {
                    PointsOrAreas::Points(points) => (guarantee, file.predict_bin_counts(&points)?),
                    PointsOrAreas::Areas(areas) => (guarantee, file.predict_area_counts(areas)?),
                }
            }
            None => {
                let PointsOrAreas::Points(at) = at else { return Err(CliError::AreasOfMoments) };
                let file = MomentsFile::read(from)?;
                ensure_release_file_unedited(from)?;
                (file.guarantee().to_owned(), file.predict(at, other)?)
            }
        };
        Ok(ComputedPredictions { predictions, guarantee, published: None })
    }
}

/// Predictions from a file, and what covers them.
struct ComputedPredictions {
    predictions: PostprocessedPredictions,
    guarantee: String,
    /// The statement for a map, where it is not that of the whole file.
    published: Option<CertificateSummary>,
}

/// Refuses an edited file, because its guarantee must not be repeated. Warns if an edit could not be noticed.
fn ensure_release_file_unedited(from: &Path) -> Result<(), CliError> {
    let text = read_limited_text(from).map_err(CliError::io_error_at(from))?;
    if let Some(warning) = CertificateSummary::ensure_certificate_holds(from, &text)? {
        print_stderr(&format!("warning: {warning}"));
    }
    Ok(())
}

/// Reads the guarantee of the file, which also covers everything computed from it.
fn read_certificate_summary(from: &Path) -> Result<CertificateSummary, CliError> {
    let text = read_limited_text(from).map_err(CliError::io_error_at(from))?;
    Ok(CertificateSummary::parse(from, &text, None)?)
}

fn kernel(text: &str) -> Result<KernelSetting, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

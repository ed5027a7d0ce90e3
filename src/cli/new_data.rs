//! `dpgp new --data`: a spec for the user's own file, and the choice of its columns.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Args, ValueEnum};
use thiserror::Error;

use super::CliError;
use super::emit::quote_for_shell;
use super::new_bounds::{FEWEST_FOR_BOUNDS, epsilon_and_share};
use dpgp_data::suggest::closest;
use dpgp_mechanisms::MomentFeatures;
use dpgp_report::format_exact;

use dpgp_data::{
    ColumnDescription, ColumnKind, ColumnNameSource, CsvLayout, TableDescription, build_csv_layout, describe_table,
    detect_csv_layout, is_hidden_char, is_numeric_name, is_parquet,
};

/// The private part of a row, which decides the template of the spec.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProtectedPart {
    /// The target; inputs are public.
    Target,
    /// Inputs and target of a record.
    Record,
    /// Rows that are counted.
    Row,
    /// Rows that are counted by one column, for its bounds.
    Bounds,
}

impl ProtectedPart {
    fn spec_template(self) -> &'static str {
        match self {
            Self::Target => include_str!("new_data.toml"),
            Self::Record => include_str!("new_data_records.toml"),
            Self::Row => include_str!("new_data_counts.toml"),
            Self::Bounds => include_str!("new_bounds.toml"),
        }
    }
}

/// The kernel of functions of each input alone.
const ADDITIVE: &str = "additive";
/// The kernel of functions that need not be smooth. Fourier moments of whole records show only long waves, and a smooth kernel assumes that
/// there are no others. On durations of bike trips, 95 % intervals of the smooth kernel held at 62 % of the places and those of this kernel at
/// 90 %, with errors as small (beyond the papers; measured in `docs/own-data.md`).
const MATERN: &str = "matern";
/// The most inputs of a joint function of all of them. Few rows or a small epsilon say little about such a function. Fourier moments of whole
/// records inform all places at once, so they allow more inputs than predictions of single places.
const MOST_TOGETHER: usize = 2;
const MOST_TOGETHER_OF_RECORDS: usize = 4;

impl ProtectedPart {
    /// Chooses the kernel for a number of inputs.
    fn default_kernel(self, inputs: usize) -> &'static str {
        let together = match self {
            Self::Target => MOST_TOGETHER,
            Self::Record | Self::Row | Self::Bounds => MOST_TOGETHER_OF_RECORDS,
        };
        match (self, inputs) {
            (_, many) if many > together => ADDITIVE,
            (Self::Record | Self::Row | Self::Bounds, _) => MATERN,
            (Self::Target, 1) => "eq",
            (Self::Target, _) => "eq-ard",
        }
    }

    /// Writes the option for the points of a preview: the map for private inputs, else ranges of one or two inputs, or a file if `--grid` cannot
    /// name the inputs.
    pub fn grid_option(self, inputs: &[String]) -> String {
        if self.is_target() && !can_name_in_grid(inputs) {
            return "--at grid.csv".to_owned();
        }
        let places = inputs.iter().enumerate().map(|(place, input)| match place {
            0 | 1 => format!("{input}=FROM..TO:20"),
            _ => format!("{input}=VALUE"),
        });
        match self {
            Self::Record | Self::Row | Self::Bounds => "--grid auto".to_owned(),
            // With `=`, because the name of a column may begin with a dash.
            Self::Target => format!("--grid={}", quote_for_shell(&places.collect::<Vec<_>>().join(","))),
        }
    }

    fn is_target(self) -> bool {
        matches!(self, Self::Target)
    }
}

/// The most inputs in a `--grid` option.
const MOST_IN_WORDS: usize = 20;

/// Returns whether `--grid` can name the inputs. A comma ends a name, and hidden characters cannot be copied from a terminal.
pub(super) fn can_name_in_grid(inputs: &[String]) -> bool {
    inputs.len() <= MOST_IN_WORDS && inputs.iter().all(|name| !name.contains(',') && !name.chars().any(is_hidden_char))
}

/// The user's own file.
pub(super) struct UserDataFile<'a> {
    pub path: &'a Path,
    /// Its path in the spec.
    pub name: &'a str,
    /// The source of its column names.
    pub columns: ColumnNameSource,
    /// The separator, if the user names it.
    pub separator: Option<u8>,
    /// The columns that the user names.
    pub chosen: &'a ChosenColumns,
    /// The people that the rows belong to, if one person can have several.
    pub people: Option<&'a RowsOfPeople>,
    /// How rows are counted.
    pub counts: &'a CountChoices,
}

/// How rows are counted.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct CountChoices {
    /// With --count: the number of bins of each input, separated by commas [default: 64 for one input, 48 each for two]
    #[arg(long, value_name = "LIST", requires = "count", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    bins: Vec<u32>,
    /// With --count: whether neighbours differ by one row more or less, or by the cells of one row. Counts share a budget with means of
    /// the same rows only with replace-one
    #[arg(long, value_name = "RELATION", requires = "count", default_value = "add-remove")]
    relation: CountRelation,
}

/// Neighbouring data sets of counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum CountRelation {
    /// One row is added or removed; the number of rows is private.
    #[default]
    AddRemove,
    /// One row is replaced; the number of rows is public.
    ReplaceOne,
}

impl CountChoices {
    /// The bins of each input.
    fn bins_of(&self, inputs: usize) -> Result<Vec<u32>, ColumnError> {
        match self.bins.len() {
            0 => Ok(vec![bins_per_input(inputs); inputs]),
            bins if bins == inputs => Ok(self.bins.clone()),
            bins => Err(ColumnError::Bins { bins, inputs }),
        }
    }

    /// The relation as a spec writes it.
    fn relation(&self) -> &'static str {
        match self.relation {
            CountRelation::AddRemove => "add-remove",
            CountRelation::ReplaceOne => "replace-one",
        }
    }
}

/// The column that identifies a person, and how many rows of one person are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowsOfPeople {
    pub column: String,
    pub most_rows: u32,
    /// About how many rows there are, if the user said so: their number is private, and is not read off the file.
    pub rows: Option<u64>,
}

/// The text of a spec, and the roles of its columns.
pub(super) struct GeneratedSpec {
    pub text: String,
    pub roles: ColumnRoles,
    /// The reasons why columns are left out, one line each.
    pub left_out: Vec<String>,
}

/// A file as one reading of all its rows shows it.
pub(super) struct DescribedFile {
    layout: CsvLayout,
    pub table: TableDescription,
}

/// Describes the columns of a file, and counts its rows.
pub(super) fn describe_file(file: &UserDataFile<'_>) -> Result<DescribedFile, CliError> {
    let layout = detect_layout(file)?;
    let table = describe_table(file.path, &layout)?;
    Ok(DescribedFile { layout, table })
}

/// Makes the spec for a file. By default the last numeric column is the target, and the others are the inputs.
pub(super) fn generate_spec(
    file: &UserDataFile<'_>,
    described: DescribedFile,
    protected: ProtectedPart,
) -> Result<GeneratedSpec, CliError> {
    let DescribedFile { layout, table: mut own } = described;
    if let Some(RowsOfPeople { column, .. }) = file.people {
        let cause = |cause| CliError::Columns { path: file.path.to_path_buf(), cause };
        ensure_column_exists(column, &own.columns).map_err(cause)?;
        // An identifier is no input.
        own.columns.retain(|other| other.name != *column);
    }
    let (roles, rows) = (assign_column_roles(file, &layout, &own, protected)?, own.rows);
    let bins = file.counts.bins_of(roles.inputs.len());
    let bins = bins.map_err(|cause| CliError::Columns { path: file.path.to_path_buf(), cause })?;
    let left_out = excluded_column_lines(&own.columns, &roles.inputs);
    let ColumnRoles { target, inputs, .. } = &roles;
    let bounds_of = format!("bounds of {}", inputs.join(", "));
    let counts = format!("counts by {}", inputs.join(", "));
    let what = target.clone().unwrap_or(if matches!(protected, ProtectedPart::Bounds) { bounds_of } else { counts });
    let public = public_row_count(protected, file, rows);
    if let (ProtectedPart::Bounds, Some(rows)) = (protected, public.filter(|rows| *rows < FEWEST_FOR_BOUNDS)) {
        return Err(CliError::FewRowsForBounds { path: file.path.to_path_buf(), rows, fewest: FEWEST_FOR_BOUNDS });
    }
    let title = format!("{what} under differential privacy");
    let kernel = protected.default_kernel(inputs.len());
    let delta = default_delta(public);
    let features = public.map_or(MomentFeatures::Waves, |rows| MomentFeatures::for_rows(rows, inputs.len()));
    let [epsilon, share] = epsilon_and_share(public, delta);
    let parts = [
        ("@SOURCE@", source_toml(file, &layout)),
        ("@INPUTS@", name_list_toml(inputs)),
        ("@OTHERS@\n", column_comments(&roles)),
        ("@PERSON@", person_toml(file.people)),
        ("# rows = 10000   #", known_rows_toml(file.people)),
        ("@KERNEL@", kernel.to_owned()),
        ("@VARIANCE@", kernel_variance_toml(kernel, inputs, features)),
        ("@LENGTHSCALES@", lengthscales_toml(protected, kernel, inputs, rows, features)),
        ("@ROUGHNESS@", roughness_comment(kernel).to_owned()),
        ("@MAP@", map_toml(inputs)),
        ("@SPARSE@", sparse_toml(rows)),
        ("@SPLIT@", split_toml(rows)),
        ("@DELTA@", format_exact(delta)),
        ("@READ@", what_was_read(public).to_owned()),
        ("@EPSILON@", epsilon),
        ("@SHARE@", share),
        ("@FEATURES@\n", features_toml(features)),
        ("@MODEL@\n", model_comment(features).to_owned()),
        ("@SUMS@", sums_comment(features).to_owned()),
        ("@ENDS@", input_list_lines(inputs, "[nan, nan]")),
        ("@TITLE@", quote_toml(&title)),
        ("@BINS@", bin_lines(inputs, &bins)),
        ("@RELATION@", file.counts.relation().to_owned()),
        ("@TARGET@", quote_toml(target.as_deref().unwrap_or(&inputs[0]))),
    ];
    let text = parts.iter().fold(protected.spec_template().to_owned(), |spec, (place, part)| spec.replace(place, part));
    Ok(GeneratedSpec { text, roles, left_out })
}

fn detect_layout(file: &UserDataFile<'_>) -> Result<CsvLayout, CliError> {
    match (is_parquet(file.path), &file.columns, file.separator) {
        (true, ColumnNameSource::Header, None) => Ok(CsvLayout::default()),
        (true, ..) => Err(CliError::NamedColumns(file.path.to_path_buf())),
        (false, names, Some(separator)) => Ok(build_csv_layout(file.path, names, separator)?),
        (false, names, None) => Ok(detect_csv_layout(file.path, names)?),
    }
}

fn assign_column_roles(
    file: &UserDataFile<'_>,
    layout: &CsvLayout,
    own: &TableDescription,
    protected: ProtectedPart,
) -> Result<ColumnRoles, CliError> {
    let path = file.path.to_path_buf();
    let TableDescription { columns, rows, .. } = own;
    // Names from the user are not a row of the file.
    let read = file.columns == ColumnNameSource::Header;
    if read && columns.iter().any(|column| is_numeric_name(&column.name)) {
        return Err(CliError::NumbersForNames(path));
    }
    if *rows == 0 {
        return Err(CliError::NoRows(path));
    }
    let counts = matches!(protected, ProtectedPart::Row | ProtectedPart::Bounds);
    ensure_no_column_is_mostly_numbers(file, own, counts)?;
    let numbers = file.chosen.usable_columns(columns);
    if numbers.len() < if counts { 1 } else { 2 } {
        let mut why = excluded_column_lines(columns, &numbers);
        why.extend(few_columns_hint(layout, own).filter(|_| !is_parquet(file.path)));
        return Err(CliError::FewNumbers { path, numbers, why });
    }
    file.chosen.assign_roles(columns, counts).map_err(|cause| CliError::Columns { path, cause })
}

/// Refuses a column that the user would expect among the inputs, and that single cells keep out. Passes if the user names all columns.
///
/// A second header has text in every column: fewer numbers than expected, which the caller explains.
fn ensure_no_column_is_mostly_numbers(
    file: &UserDataFile<'_>,
    own: &TableDescription,
    counts: bool,
) -> Result<(), CliError> {
    let ChosenColumns { target, inputs } = file.chosen;
    if (counts || target.is_some()) && !inputs.is_empty() || own.words_first.is_some() {
        return Ok(());
    }
    let mostly = own.columns.iter().filter(|column| column.kind == ColumnKind::MostlyNumbers);
    let why = excluded_column_lines(&mostly.cloned().collect::<Vec<_>>(), &[]);
    if why.is_empty() { Ok(()) } else { Err(CliError::MostlyNumbers { path: file.path.to_path_buf(), why }) }
}

/// Suggests what may be wrong with a CSV file that has too few numeric columns.
fn few_columns_hint(layout: &CsvLayout, own: &TableDescription) -> Option<String> {
    if let Some(line) = own.words_first {
        return Some(format!(
            "line {line} has words where later rows have numbers; remove extra header or title lines"
        ));
    }
    let [only] = &own.columns[..] else { return None };
    let other = only.name.chars().find(|c| "|:^~".contains(*c)).or_else(|| only.name.chars().find(|c| *c == ' '));
    let option = match other {
        Some(other) => format!("--separator {}", quote_for_shell(&other.to_string())),
        None => "--separator".to_owned(),
    };
    let separator = char::from(layout.separator);
    Some(format!("the separator {separator:?} splits no row; use {option} to set another"))
}

fn source_toml(file: &UserDataFile<'_>, layout: &CsvLayout) -> String {
    let path = quote_toml(file.name);
    if is_parquet(file.path) {
        return format!("source.parquet.path = {path}");
    }
    let mut keys = format!("path = {path}");
    if layout.separator != b',' {
        keys.push_str(&format!(", separator = {}", quote_toml(&char::from(layout.separator).to_string())));
    }
    if let Some(columns) = &layout.columns {
        keys.push_str(&format!(", columns = {}", name_list_toml(columns)));
    }
    format!("source.csv = {{ {keys} }}")
}

/// Writes comments about default choices and about unused columns, one line each.
fn column_comments(roles: &ColumnRoles) -> String {
    let mut lines = Vec::new();
    let chosen = match (roles.told_target, roles.told_inputs) {
        _ if roles.target.is_none() && !roles.told_inputs => "the first numeric columns as the inputs",
        _ if roles.target.is_none() => "",
        (false, false) => "the last numeric column as the target, the others as the inputs",
        (false, true) => "the last numeric column that is not an input as the target",
        (true, false) => "all other numeric columns as the inputs",
        (true, true) => "",
    };
    if !chosen.is_empty() {
        lines.push(format!("# Chosen by default: {chosen}. Change this as needed."));
    }
    if !roles.unused.is_empty() {
        lines.push(format!("# Unused numeric columns: {}.", quoted_names(&roles.unused)));
    }
    if let Some(first) = roles.text.first() {
        lines.push(format!("# Text columns: {}. To use one as an input, list its words:", quoted_names(&roles.text)));
        lines.push(format!("# encode = {{ {} = [\"first word\", \"second word\"] }}", quote_toml(first)));
    }
    if !roles.index.is_empty() {
        lines.push(format!("# Unused columns that number the rows: {}.", quoted_names(&roles.index)));
    }
    if !roles.others.is_empty() {
        lines.push(format!("# Columns with neither numbers nor text: {}.", quoted_names(&roles.others)));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn person_toml(people: Option<&RowsOfPeople>) -> String {
    let about = "the guarantee is about all rows of a person";
    match people {
        None => format!("# person = \"the column that identifies the person\"   # with rows_per_person = 3 {about}"),
        Some(RowsOfPeople { column, most_rows, .. }) => {
            let limit = "a public number; further rows of a person are left out";
            format!("person = {}   # {about}\nrows_per_person = {most_rows}   # {limit}", quote_toml(column))
        }
    }
}

/// Writes the number of rows, which moments of people need.
fn known_rows_toml(people: Option<&RowsOfPeople>) -> String {
    match people.map(|people| people.rows) {
        None => "# rows = 10000   #".to_owned(),
        Some(None) => "rows = nan   # fill in:".to_owned(),
        Some(Some(rows)) => format!("rows = {rows}   #"),
    }
}

/// Bins along each input, so that a grid has some thousands.
fn bins_per_input(inputs: usize) -> u32 {
    match inputs {
        1 => 64,
        2 => 48,
        3 => 16,
        _ => 8,
    }
}

/// The most rows of a model without inducing inputs. All of these rows are predicted in turn.
const MOST_EXACT: usize = 3_000;

fn sparse_toml(rows: usize) -> String {
    if rows <= MOST_EXACT {
        let about = "# averages over lengthscales and variances a quarter to four times those below, weighted by the release, at no cost";
        return format!("averaged = true   {about}");
    }
    let about = "without it, time grows with the cube of their number, and memory with its square";
    format!("sparse.fitc.inducing.kmeans = {{ centres = 10, restarts = 1 }}   # {rows} rows: {about}")
}

/// Describes the sums of a release, and what they make of the model.
fn sums_comment(features: MomentFeatures) -> &'static str {
    match features {
        MomentFeatures::Waves => {
            "# The release consists of sums over all rows: cosines and sines of the inputs, alone and times the target. They are chosen and\n\
             # weighted for the kernel above, the number of rows and the budget. Lengthscales and variances are then averaged, weighted by the\n\
             # evidence of the release, so those above need only be about right."
        }
        MomentFeatures::Cells => {
            "# The release consists of sums over all rows: whether a row lies in each cell of nested grids, alone and times the target. They\n\
             # are chosen for the number of rows and the budget."
        }
    }
}

/// Says what the numbers of the model are for, where the release finds its own.
fn model_comment(features: MomentFeatures) -> &'static str {
    match features {
        MomentFeatures::Waves => "",
        MomentFeatures::Cells => {
            "# The release finds these numbers; those below serve `predict --preview` only. The form of the kernel matters, and so do the\n\
             # proportions of its lengthscales.\n"
        }
    }
}

/// Writes what is summed, where it is not waves.
fn features_toml(features: MomentFeatures) -> String {
    match features {
        MomentFeatures::Waves => String::new(),
        MomentFeatures::Cells => {
            "features = \"cells\"   # sums over nested cells of the box; \"waves\" are for few rows\n".to_owned()
        }
    }
}

/// Delta where the number of rows is private: below a tenth of 1 / (number of rows) for a million rows.
const DELTA_OF_UNKNOWN_ROWS: f64 = 1e-7;

/// Returns the public number of rows: that of the file, or, if that is private, the one that the user stated.
///
/// Obligation: no setting follows from a number of rows that the guarantee hides. Specs and certificates are public.
fn public_row_count(protected: ProtectedPart, file: &UserDataFile<'_>, rows: usize) -> Option<usize> {
    let is_private = match protected {
        // Who has which inputs is public, and so is the number of rows.
        ProtectedPart::Target => false,
        ProtectedPart::Record | ProtectedPart::Bounds => file.people.is_some(),
        ProtectedPart::Row => file.people.is_some() || file.counts.relation == CountRelation::AddRemove,
    };
    match file.people {
        _ if !is_private => Some(rows),
        people => people.and_then(|people| usize::try_from(people.rows?).ok()),
    }
}

/// Says what was read from a file.
fn what_was_read(public_rows: Option<usize>) -> &'static str {
    match public_rows {
        Some(_) => "the column names, their types and the number of rows were",
        None => "the column names and their types were",
    }
}

/// Chooses delta: a power of ten, at most a tenth of 1 / (number of rows) if that is known.
fn default_delta(public_rows: Option<usize>) -> f64 {
    let Some(rows) = public_rows else { return DELTA_OF_UNKNOWN_ROWS };
    let digits = rows.max(1).ilog10() as i32 + 2;
    // A power of ten with few digits is exact, so that this is the nearest number.
    1.0 / 10f64.powi(digits.max(5))
}

fn split_toml(rows: usize) -> String {
    if rows <= MOST_EXACT {
        return "split.shuffled = 5   # folds".to_owned();
    }
    let about = "holds out the last 200 rows; memory grows with held-out rows times all rows";
    format!("split.tail = 200   # {about}")
}

/// Writes the variance of a kernel; for an additive kernel, the variance of each function.
fn kernel_variance_toml(kernel: &str, inputs: &[String], features: MomentFeatures) -> String {
    if kernel == ADDITIVE {
        return additive_variances_toml(inputs);
    }
    let about = match features {
        MomentFeatures::Cells => {
            "square of the typical distance between the function and its mean; perhaps ((high - low) / 8)^2"
        }
        MomentFeatures::Waves => {
            "square of the typical distance between the function and the middle of the bounds; perhaps ((high - low) / 4)^2"
        }
    };
    let smoothness = "smoothness = \"3/2\"   # 1/2 for a rougher function, 5/2 for a smoother one\n";
    let before = if kernel == MATERN { smoothness } else { "" };
    format!("{before}variance = nan   # fill in: {about}")
}

fn additive_variances_toml(inputs: &[String]) -> String {
    let about = "one for each input, whose functions add up; larger for inputs known to matter, 0 to ignore an input";
    let proposed = format!("perhaps ((high - low) / 4)^2 / {}", inputs.len());
    let pairs = "# pairs = [{ inputs = [0, 1], variance = ... }]   # functions of two inputs, by their positions in `inputs`, counted from 0";
    format!("variances = [   # fill in: {about}; {proposed}\n{}]\n{pairs}", input_list_lines(inputs, "nan"))
}

/// Describes the functions that a kernel assumes.
fn roughness_comment(kernel: &str) -> &'static str {
    match kernel {
        MATERN => {
            "# Continuous functions that need not be smooth. Other kernels: eq-ard (for smooth functions; its intervals are too narrow if the\n\
             # function is not smooth), rational-quadratic, and sums of them."
        }
        _ => "# A sum of functions, each of one input alone.",
    }
}

fn lengthscales_toml(
    protected: ProtectedPart,
    kernel: &str,
    inputs: &[String],
    rows: usize,
    features: MomentFeatures,
) -> String {
    let guess = match (protected, inputs.len()) {
        (ProtectedPart::Target, _) if rows <= MOST_EXACT => {
            "values from a quarter to four times as long are also tried; if unsure, use a fifth of its range"
        }
        (ProtectedPart::Target, _) => "short ones need more noise; if unsure, use half of its range or more",
        (ProtectedPart::Record, _) if features == MomentFeatures::Cells => "perhaps an eighth of its range",
        (ProtectedPart::Record | ProtectedPart::Row | ProtectedPart::Bounds, 1 | 2) => {
            "values up to four times as long are also tried; if unsure, use an eighth of its range"
        }
        (ProtectedPart::Record | ProtectedPart::Row | ProtectedPart::Bounds, _) => {
            "values up to four times as long are also tried; if unsure, use a quarter of its range"
        }
    };
    let about = format!("# fill in: distance over which the average changes noticeably, in the input's units; {guess}");
    match inputs {
        [only] if kernel == "eq" => format!("lengthscale = nan   {about} ({})", quote_toml(only)),
        several => format!("lengthscales = [   {about}\n{}]", input_list_lines(several, "nan")),
    }
}

/// Writes the map of a surface: ranges of the first two inputs, and values of the others.
fn map_toml(inputs: &[String]) -> String {
    let (drawn, fixed) = inputs.split_at(inputs.len().min(2));
    let ranges = input_list_lines(drawn, "{ from = nan, to = nan, points = 25 }");
    let at = if fixed.is_empty() {
        String::new()
    } else {
        format!("at = [   # fill in: the value of each other input on the map\n{}]\n", input_list_lines(fixed, "nan"))
    };
    format!("map = [   # fill in: lowest and highest value on the map\n{ranges}]\n{at}")
}

/// Writes a line of a list for each input.
fn input_list_lines(inputs: &[String], value: &str) -> String {
    inputs.iter().map(|name| format!("    {value},   # {}\n", quote_toml(name))).collect()
}

/// Writes the bins of each input, whose ends are to be filled in.
fn bin_lines(inputs: &[String], bins: &[u32]) -> String {
    let line = |(name, bins): (&String, &u32)| {
        format!("    {{ from = nan, to = nan, bins = {bins} }},   # {}\n", quote_toml(name))
    };
    inputs.iter().zip(bins).map(line).collect()
}

/// Quotes a text for TOML, on one line.
pub(super) fn quote_toml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn name_list_toml(names: &[String]) -> String {
    format!("[{}]", quoted_names(names))
}

fn quoted_names(names: &[String]) -> String {
    names.iter().map(|name| quote_toml(name)).collect::<Vec<_>>().join(", ")
}

/// The columns that the user names.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ChosenColumns {
    /// The column to predict [default: the last numeric column that is not an input]
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub target: Option<String>,
    /// The columns to predict from, separated by commas [default: all other numeric columns]
    #[arg(long, value_name = "NAMES", requires = "data", value_delimiter = ',', value_parser = column_name)]
    inputs: Vec<String>,
}

/// Parses a column name, which must not be empty.
pub(super) fn column_name(name: &str) -> Result<String, String> {
    match name.trim() {
        "" => Err("a column name is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A reason why columns cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ColumnError {
    /// The file has no such column.
    #[error("there is no column {name:?}{meant}; {known}")]
    Unknown { name: String, meant: String, known: String },
    /// Its cells are not numbers.
    #[error("the column {name:?} is not numeric: {why}; {known}")]
    NoNumbers { name: String, why: String, known: String },
    /// It is named several times.
    #[error("the column {0:?} is named twice among the inputs and the target")]
    Twice(String),
    /// Numbers of bins for other inputs.
    #[error("--bins is for {bins} inputs, but the rows are counted by {inputs}")]
    Bins { bins: usize, inputs: usize },
    /// The target or the inputs use all numeric columns.
    #[error("no numeric column is left for the {0}")]
    NoneLeft(&'static str),
}

/// The columns of a file by their roles in a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnRoles {
    /// The target; none where rows are counted.
    pub target: Option<String>,
    pub inputs: Vec<String>,
    /// Other numeric columns.
    pub unused: Vec<String>,
    /// Columns that number the rows and that the user does not name.
    pub index: Vec<String>,
    pub text: Vec<String>,
    pub others: Vec<String>,
    pub told_target: bool,
    pub told_inputs: bool,
}

impl ChosenColumns {
    /// The target alone, as what rows are counted by.
    pub fn with_target_as_input(&self) -> Self {
        Self { target: None, inputs: self.target.iter().cloned().collect() }
    }

    /// Returns the columns that may be inputs or the target: numeric ones, and those that number the rows if the user names them.
    pub fn usable_columns(&self, columns: &[ColumnDescription]) -> Vec<String> {
        let named: BTreeSet<&String> = self.target.iter().chain(&self.inputs).collect();
        let usable = columns.iter().filter(|column| match column.kind {
            ColumnKind::Numbers => true,
            ColumnKind::Index => named.contains(&column.name),
            _ => false,
        });
        usable.map(|column| column.name.clone()).collect()
    }

    /// Assigns a role to each column. By default the last numeric column is the target, and the others are the inputs. A column that
    /// numbers the rows is unused unless the user names it.
    ///
    /// Where rows are counted, no column is the target, and the first two are the inputs.
    pub fn assign_roles(&self, columns: &[ColumnDescription], counts: bool) -> Result<ColumnRoles, ColumnError> {
        use ColumnKind as K;
        let [numbers, index, text] = [K::Numbers, K::Index, K::Text].map(|kind| columns_of_kinds(columns, &[kind]));
        let others = columns_of_kinds(columns, &[K::MostlyNumbers, K::Nothing, K::Times, K::Other]);
        let mut taken: Vec<&String> = Vec::new();
        for name in self.target.iter().chain(&self.inputs) {
            ensure_numeric_column(name, columns)?;
            if taken.contains(&name) {
                return Err(ColumnError::Twice(name.clone()));
            }
            taken.push(name);
        }
        let mut free = numbers.iter().filter(|name| !taken.contains(name)).rev();
        let target = match counts {
            true => None,
            false => {
                let target = self.target.as_ref().or_else(|| free.next());
                Some(target.ok_or(ColumnError::NoneLeft("target"))?)
            }
        };
        let told_inputs = !self.inputs.is_empty();
        let most = if counts { COUNTED_BY } else { usize::MAX };
        let inputs = if told_inputs { self.inputs.clone() } else { free.rev().take(most).cloned().collect() };
        if inputs.is_empty() {
            return Err(ColumnError::NoneLeft("inputs"));
        }
        let used: BTreeSet<&String> = inputs.iter().chain(target).collect();
        let [unused, index] =
            [&numbers, &index].map(|names| names.iter().filter(|name| !used.contains(name)).cloned().collect());
        Ok(ColumnRoles {
            unused,
            index,
            target: target.cloned(),
            inputs,
            text,
            others,
            told_target: self.target.is_some(),
            told_inputs,
        })
    }
}

/// The inputs that rows are counted by, unless the user names others.
const COUNTED_BY: usize = 2;

/// Returns the names of the columns of some kinds.
fn columns_of_kinds(columns: &[ColumnDescription], kinds: &[ColumnKind]) -> Vec<String> {
    let own = columns.iter().filter(|column| kinds.contains(&column.kind));
    own.map(|column| column.name.clone()).collect()
}

/// Fails if no column has this name, and lists the columns.
pub(super) fn ensure_column_exists(name: &str, columns: &[ColumnDescription]) -> Result<(), ColumnError> {
    if columns.iter().any(|column| column.name == name) {
        return Ok(());
    }
    let names = columns.iter().map(|column| column.name.as_str());
    let meant = closest(name, names).map(|other| format!(" (did you mean {other:?}?)")).unwrap_or_default();
    Err(ColumnError::Unknown { name: name.to_owned(), meant, known: list_columns_by_kind(columns) })
}

/// Fails if a name is not that of a numeric column, and lists the columns.
fn ensure_numeric_column(name: &str, columns: &[ColumnDescription]) -> Result<(), ColumnError> {
    ensure_column_exists(name, columns)?;
    let mut others = columns.iter().filter(|column| ![ColumnKind::Numbers, ColumnKind::Index].contains(&column.kind));
    match others.find(|column| column.name == name) {
        None => Ok(()),
        Some(column) => {
            let mut why = exclusion_reason(column).unwrap_or_default();
            if column.kind == ColumnKind::Text {
                why.push_str(
                    "; to use its words as an input, leave it out here and list them under `encode` in the spec",
                );
            }
            Err(ColumnError::NoNumbers { name: name.to_owned(), why, known: list_columns_by_kind(columns) })
        }
    }
}

/// Lists the columns by kind.
fn list_columns_by_kind(columns: &[ColumnDescription]) -> String {
    use ColumnKind as K;
    let kinds = [
        (&[K::Numbers][..], "numeric columns"),
        (&[K::Index], "columns that number the rows"),
        (&[K::Text], "text columns"),
        (&[K::MostlyNumbers], "columns with a cell that is not a number"),
        (&[K::Nothing, K::Times, K::Other], "other columns"),
    ];
    let mut parts = Vec::new();
    for (kinds, what) in kinds {
        let names = columns_of_kinds(columns, kinds);
        if !names.is_empty() {
            parts.push(format!("{what}: {}", first_names_text(&names, MOST_LISTED)));
        }
    }
    parts.join("; ")
}

/// The most columns to list.
const MOST_LISTED: usize = 50;

/// Lists the first names, and counts the others.
pub(super) fn first_names_text(names: &[String], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| format!("{name:?}")).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Explains why a column is not used by default; `None` for a numeric one. Only for the holder of the file: it does not quote a cell, but
/// it reveals that a cell is not a number.
pub(super) fn exclusion_reason(column: &ColumnDescription) -> Option<String> {
    Some(match (column.kind, column.no_number) {
        (ColumnKind::Numbers, _) => return None,
        (_, Some((line, what))) => format!("in line {line} the cell is {what}"),
        (ColumnKind::Index, _) => {
            "it only numbers the rows, like an index column of pandas or R; use --inputs or --target to use it anyway"
                .to_owned()
        }
        (ColumnKind::Text | ColumnKind::MostlyNumbers, None) => "it holds text".to_owned(),
        (ColumnKind::Nothing, None) => "it is empty".to_owned(),
        (ColumnKind::Times, None) => {
            "it holds dates or times; convert them to numbers of days, hours or seconds".to_owned()
        }
        (ColumnKind::Other, None) => "it holds neither numbers nor text".to_owned(),
    })
}

/// Writes a line for each column that is left out, with the reason.
pub(super) fn excluded_column_lines(columns: &[ColumnDescription], used: &[String]) -> Vec<String> {
    let used: BTreeSet<&String> = used.iter().collect();
    let left = columns.iter().filter(|column| !used.contains(&column.name));
    left.filter_map(|column| Some(format!("column {:?}: {}", column.name, exclusion_reason(column)?))).collect()
}

/// The most lines to show.
const MOST_TOLD: usize = 10;

/// Indents lines below another one, and counts those that are too many to show.
pub(super) fn indent_lines(lines: &[String]) -> String {
    let mut text: String = lines.iter().take(MOST_TOLD).map(|line| format!("\n  {line}")).collect();
    if let Some(more) = lines.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
        text.push_str(&format!("\n  and {more} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One over the number of rows is at least ten times as large.
    #[test]
    fn delta_is_far_below_one_over_the_rows() {
        for (rows, expected) in [(0, "1e-5"), (9_999, "1e-5"), (10_000, "1e-6"), (546_712, "1e-7")] {
            assert_eq!(format_exact(default_delta(Some(rows))), expected);
            assert!(10.0 * expected.parse::<f64>().unwrap() * rows as f64 <= 1.0);
        }
    }
}

//! The text of a spec for a file: a template, filled with the names of its columns and with what follows from public facts.

use std::path::Path;

use dpgp_data::{
    ColumnKind, ColumnNameSource, CsvLayout, TableDescription, build_csv_layout, describe_table, detect_csv_layout,
    is_numeric_name, is_parquet,
};
use dpgp_mechanisms::MomentFeatures;
use dpgp_number::text::format_exact;

use super::bounds::{FEWEST_FOR_BOUNDS, bounds_epsilon_and_percent};
use super::columns::excluded_column_lines;
use super::{ChosenColumns, ColumnError, ColumnRoles, DraftError, ensure_column_exists};

/// The private part of a row, which decides the template of the spec.
#[derive(Debug, Clone, Copy)]
pub enum ProtectedPart {
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
            Self::Target => include_str!("targets.toml"),
            Self::Record => include_str!("records.toml"),
            Self::Row => include_str!("counts.toml"),
            Self::Bounds => include_str!("bounds.toml"),
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
}

/// The user's own file.
pub struct UserDataFile<'a> {
    /// Its path.
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
    pub people: Option<&'a PersonColumnAndLimit>,
    /// How rows are counted.
    pub counts: &'a CountChoices,
}

/// How rows are counted.
#[derive(Debug, Clone, Default)]
pub struct CountChoices {
    /// The number of bins of each numeric input; empty for the default.
    pub bins: Vec<u32>,
    /// The neighbouring data sets.
    pub relation: CountNeighbourRelation,
}

/// Neighbouring data sets of counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CountNeighbourRelation {
    /// One row is added or removed; the number of rows is private.
    #[default]
    AddRemove,
    /// One row is replaced; the number of rows is public.
    ReplaceOne,
}

impl CountChoices {
    /// The bins of some numeric inputs.
    fn bins_per_numeric_input(&self, inputs: usize) -> Result<Vec<u32>, ColumnError> {
        match self.bins.len() {
            0 => Ok(vec![bins_per_input(inputs); inputs]),
            bins if bins == inputs => Ok(self.bins.clone()),
            bins => Err(ColumnError::Bins { bins, inputs }),
        }
    }

    /// The relation as a spec writes it.
    fn neighbour_relation_key(&self) -> &'static str {
        match self.relation {
            CountNeighbourRelation::AddRemove => "add-remove",
            CountNeighbourRelation::ReplaceOne => "replace-one",
        }
    }
}

/// The column that identifies a person, and how many rows of one person are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonColumnAndLimit {
    /// The column.
    pub column: String,
    /// The most rows of one person that are used.
    pub most_rows: u32,
    /// About how many rows there are, if the user said so: their number is private, and is not read off the file.
    pub rows: Option<u64>,
}

/// The text of a spec, and the roles of its columns.
pub struct GeneratedSpec {
    /// The text, with `nan` for each number that the user must fill in.
    pub text: String,
    /// The roles.
    pub roles: ColumnRoles,
    /// The reasons why columns are left out, one line each.
    pub left_out: Vec<String>,
}

/// A file as one reading of all its rows shows it.
pub struct DescribedFile {
    layout: CsvLayout,
    /// Its columns and its number of rows.
    pub table: TableDescription,
}

/// Describes the columns of a file, and counts its rows.
///
/// # Errors
/// [`DraftError::Data`] if it cannot be read as a table.
pub fn describe_file(file: &UserDataFile<'_>) -> Result<DescribedFile, DraftError> {
    let layout = detect_layout(file)?;
    let table = describe_table(file.path, &layout)?;
    Ok(DescribedFile { layout, table })
}

/// Makes the spec for a file. By default the last numeric column is the target, and the others are the inputs.
///
/// # Errors
/// [`DraftError`], if the file has no such columns, or too few numeric ones.
pub fn generate_spec(
    file: &UserDataFile<'_>,
    described: DescribedFile,
    protected: ProtectedPart,
) -> Result<GeneratedSpec, DraftError> {
    let DescribedFile { layout, table: mut own } = described;
    if let Some(PersonColumnAndLimit { column, .. }) = file.people {
        let cause = |cause| DraftError::Columns { path: file.path.to_path_buf(), cause };
        ensure_column_exists(column, &own.columns).map_err(cause)?;
        // An identifier is no input.
        own.columns.retain(|other| other.name != *column);
    }
    let (roles, rows) = (assign_column_roles(file, &layout, &own, protected)?, own.rows);
    let bins = bin_lines(&roles.inputs, file.chosen, file.counts);
    let bins = bins.map_err(|cause| DraftError::Columns { path: file.path.to_path_buf(), cause })?;
    let left_out = excluded_column_lines(&own.columns, &roles.inputs);
    let ColumnRoles { target, inputs, .. } = &roles;
    let bounds_of = format!("bounds of {}", inputs.join(", "));
    let counts = format!("counts by {}", inputs.join(", "));
    let what = target.clone().unwrap_or(if matches!(protected, ProtectedPart::Bounds) { bounds_of } else { counts });
    let public = public_row_count(protected, file, rows);
    if let (ProtectedPart::Bounds, Some(rows)) = (protected, public.filter(|rows| *rows < FEWEST_FOR_BOUNDS)) {
        return Err(DraftError::FewRowsForBounds { path: file.path.to_path_buf(), rows, fewest: FEWEST_FOR_BOUNDS });
    }
    let title = format!("{what} under differential privacy");
    let kernel = protected.default_kernel(inputs.len());
    let delta = default_delta(public);
    let per_person = file.people.map_or(1, |people| people.most_rows as usize);
    let features = |rows| MomentFeatures::for_rows(rows, per_person, inputs.len());
    let features = public.map_or(MomentFeatures::Waves, features);
    let [epsilon, share] = bounds_epsilon_and_percent(public, delta);
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
        ("@SPARSE@", averaged_or_sparse_toml(rows)),
        ("@SPLIT@", split_toml(rows)),
        ("@DELTA@", format_exact(delta)),
        // With persons, the number of rows was said by the user, if at all.
        ("@READ@", file_facts_used_phrase(public.filter(|_| file.people.is_none())).to_owned()),
        ("@WHOLE@", whole_record_guarantee_comment(file.people).to_owned()),
        ("@EPSILON@", epsilon),
        ("@SHARE@", share),
        ("@FEATURES@\n", features_toml(features)),
        ("@MODEL@\n", hyperparameter_use_comment(features).to_owned()),
        ("@SUMS@", sums_comment(features).to_owned()),
        ("@ENDS@", input_list_lines(inputs, "[nan, nan]")),
        ("@TITLE@", quote_toml(&title)),
        ("@BINS@", bins),
        ("@MISSING@", categories_and_missing_toml(file.chosen)),
        ("@NEIGHBOURS@", count_neighbours_comment(file.people).to_owned()),
        ("@RELATION@", file.counts.neighbour_relation_key().to_owned()),
        ("@TARGET@", quote_toml(target.as_deref().unwrap_or(&inputs[0]))),
    ];
    let text = parts.iter().fold(protected.spec_template().to_owned(), |spec, (place, part)| spec.replace(place, part));
    Ok(GeneratedSpec { text, roles, left_out })
}

fn detect_layout(file: &UserDataFile<'_>) -> Result<CsvLayout, DraftError> {
    match (is_parquet(file.path), &file.columns, file.separator) {
        (true, ColumnNameSource::Header, None) => Ok(CsvLayout::default()),
        (true, ..) => Err(DraftError::NamedColumns(file.path.to_path_buf())),
        (false, names, Some(separator)) => Ok(build_csv_layout(file.path, names, separator)?),
        (false, names, None) => Ok(detect_csv_layout(file.path, names)?),
    }
}

fn assign_column_roles(
    file: &UserDataFile<'_>,
    layout: &CsvLayout,
    own: &TableDescription,
    protected: ProtectedPart,
) -> Result<ColumnRoles, DraftError> {
    let path = file.path.to_path_buf();
    let TableDescription { columns, rows, .. } = own;
    // Names from the user are not a row of the file.
    let read = file.columns == ColumnNameSource::Header;
    if read && columns.iter().any(|column| is_numeric_name(&column.name)) {
        return Err(DraftError::NumbersForNames(path));
    }
    if *rows == 0 {
        return Err(DraftError::NoRows(path));
    }
    let counts = matches!(protected, ProtectedPart::Row | ProtectedPart::Bounds);
    ensure_no_column_is_mostly_numbers(file, own, counts)?;
    let numbers = file.chosen.usable_columns(columns);
    if numbers.len() + file.chosen.categories.len() < if counts { 1 } else { 2 } {
        let mut why = excluded_column_lines(columns, &numbers);
        why.extend(few_columns_hint(layout, own).filter(|_| !is_parquet(file.path)));
        return Err(DraftError::FewNumbers { path, numbers, why });
    }
    file.chosen.assign_roles(columns, counts).map_err(|cause| DraftError::Columns { path, cause })
}

/// Refuses a column that the user would expect among the inputs, and that single cells keep out. Passes if the user names all columns.
///
/// A second header has text in every column: fewer numbers than expected, which the caller explains.
fn ensure_no_column_is_mostly_numbers(
    file: &UserDataFile<'_>,
    own: &TableDescription,
    counts: bool,
) -> Result<(), DraftError> {
    let ChosenColumns { target, inputs, categories } = file.chosen;
    let named = !inputs.is_empty() || !categories.is_empty();
    if (counts || target.is_some()) && named || own.words_first.is_some() {
        return Ok(());
    }
    let mostly = own.columns.iter().filter(|column| column.kind == ColumnKind::MostlyNumbers);
    let why = excluded_column_lines(&mostly.cloned().collect::<Vec<_>>(), &[]);
    if why.is_empty() { Ok(()) } else { Err(DraftError::MostlyNumbers { path: file.path.to_path_buf(), why }) }
}

/// Suggests what may be wrong with a CSV file that has too few numeric columns.
fn few_columns_hint(layout: &CsvLayout, own: &TableDescription) -> Option<String> {
    if let Some(line) = own.words_first {
        return Some(format!("line {line} has text where later rows have numbers; remove extra header or title lines"));
    }
    let [only] = &own.columns[..] else { return None };
    let other = only.name.chars().find(|c| "|:^~".contains(*c)).or_else(|| only.name.chars().find(|c| *c == ' '));
    let option = match other {
        Some(other) => format!("--separator '{other}'"),
        None => "--separator".to_owned(),
    };
    let separator = char::from(layout.separator);
    Some(format!("the separator {separator:?} does not split any row; use {option} to set another"))
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
        lines.push(format!(
            "# Text columns: {}. To use one as an input, list all of its categories; any other value counts as the first category:",
            quoted_names(&roles.text)
        ));
        lines.push(format!("# encode = {{ {} = [\"first category\", \"second category\"] }}", quote_toml(first)));
    }
    if !roles.index.is_empty() {
        lines.push(format!("# Unused columns that number the rows: {}.", quoted_names(&roles.index)));
    }
    if !roles.others.is_empty() {
        lines.push(format!("# Columns with neither numbers nor text: {}.", quoted_names(&roles.others)));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Says what the guarantee of whole records covers, and whether the number of rows is public.
fn whole_record_guarantee_comment(people: Option<&PersonColumnAndLimit>) -> &'static str {
    match people {
        None => "the guarantee covers the replacement of one record by any other. The number of rows is\n# public.",
        Some(_) => "the guarantee covers the replacement of all records of a person. The number of rows\n# is private.",
    }
}

/// Says how neighbouring data sets of counts differ.
fn count_neighbours_comment(people: Option<&PersonColumnAndLimit>) -> &'static str {
    match people {
        None => {
            "Neighbours differ by adding or removing one row. With \"replace-one\", one row differs, and the number of rows is public."
        }
        Some(_) => {
            "Neighbours differ by adding or removing all rows of a person. With \"replace-one\", the rows of one person differ."
        }
    }
}

fn person_toml(people: Option<&PersonColumnAndLimit>) -> String {
    let about = "the guarantee covers all rows of a person";
    match people {
        None => format!("# person = \"the column that identifies the person\"   # with rows_per_person = 3, {about}"),
        Some(PersonColumnAndLimit { column, most_rows, .. }) => {
            let limit = "a public number; further rows of a person are left out";
            format!("person = {}   # {about}\nrows_per_person = {most_rows}   # {limit}", quote_toml(column))
        }
    }
}

/// Writes the number of rows, which moments of people need.
fn known_rows_toml(people: Option<&PersonColumnAndLimit>) -> String {
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

fn averaged_or_sparse_toml(rows: usize) -> String {
    if rows <= MOST_EXACT {
        let about = "# averages over 1/4 to 4 times the lengthscales and variances below, weighted by released values, at no privacy cost";
        return format!("averaged = true   {about}");
    }
    let about = "without inducing inputs, time grows with the cube of this number, and memory with its square";
    format!("sparse.fitc.inducing.kmeans = {{ centres = 10, restarts = 1 }}   # {rows} rows: {about}")
}

/// Describes the sums of a release, and what they make of the model.
fn sums_comment(features: MomentFeatures) -> &'static str {
    match features {
        MomentFeatures::Waves => {
            "# The release consists of sums over all rows of cosines and sines of the inputs, both on their own and multiplied by\n\
             # the target. They are chosen and weighted for the kernel above, the number of rows and the budget. Predictions are\n\
             # then averaged over lengthscales and variances, weighted by marginal likelihood, so the values above need only be\n\
             # about right."
        }
        MomentFeatures::Cells => {
            "# The release consists of sums over all rows of the indicators of nested grid cells, both on their own and multiplied\n\
             # by the target. The grids are chosen to suit the number of rows and the budget."
        }
    }
}

/// Says what the numbers of the model are for, where the release finds its own.
fn hyperparameter_use_comment(features: MomentFeatures) -> &'static str {
    match features {
        MomentFeatures::Waves => "",
        MomentFeatures::Cells => {
            "# Predictions use estimates of these numbers from the release; only `predict --preview` uses the values below. The form of\n\
             # the kernel and the ratios of its lengthscales matter in both cases.\n"
        }
    }
}

/// Writes the `features` key of nested cells. Empty for waves, the default.
fn features_toml(features: MomentFeatures) -> String {
    match features {
        MomentFeatures::Waves => String::new(),
        MomentFeatures::Cells => {
            "features = \"cells\"   # sums over nested cells of the box; \"waves\" suits few rows\n".to_owned()
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
        ProtectedPart::Row => file.people.is_some() || file.counts.relation == CountNeighbourRelation::AddRemove,
    };
    match file.people {
        _ if !is_private => Some(rows),
        people => people.and_then(|people| usize::try_from(people.rows?).ok()),
    }
}

/// Names what the new spec took from the file: with or without the number of rows.
fn file_facts_used_phrase(public_rows: Option<usize>) -> &'static str {
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
    let about =
        "holds out the last 200 rows; memory grows with the number of held-out rows times the number of all rows";
    format!("split.tail = 200   # {about}")
}

/// Writes the variance of a kernel; for an additive kernel, the variance of each function.
fn kernel_variance_toml(kernel: &str, inputs: &[String], features: MomentFeatures) -> String {
    if kernel == ADDITIVE {
        return additive_variances_toml(inputs);
    }
    let about = match features {
        MomentFeatures::Cells => {
            "square of the typical distance between the function and its mean; for example ((high - low) / 8)^2"
        }
        MomentFeatures::Waves => {
            "square of the typical distance of the function from the middle of the bounds (not from its own mean); for example ((high - low) / 4)^2"
        }
    };
    let smoothness = "smoothness = \"3/2\"   # 1/2 for a rougher function, 5/2 for a smoother one\n";
    let before = if kernel == MATERN { smoothness } else { "" };
    format!("{before}variance = nan   # fill in: {about}")
}

fn additive_variances_toml(inputs: &[String]) -> String {
    let about = "one for the function of each input; larger for inputs known to matter, 0 to ignore an input";
    let proposed = format!("for example ((high - low) / 4)^2 / {}", inputs.len());
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
            "lengthscales from a quarter to four times as long are also tried; if unsure, use a fifth of its range"
        }
        (ProtectedPart::Target, _) => "short lengthscales need more noise; if unsure, use half of its range or more",
        (ProtectedPart::Record, _) if features == MomentFeatures::Cells => "for example an eighth of its range",
        (ProtectedPart::Record | ProtectedPart::Row | ProtectedPart::Bounds, 1 | 2) => {
            "lengthscales up to four times as long are also tried; if unsure, use an eighth of its range"
        }
        (ProtectedPart::Record | ProtectedPart::Row | ProtectedPart::Bounds, _) => {
            "lengthscales up to four times as long are also tried; if unsure, use a quarter of its range"
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

/// Writes the bins of each input: one for each category, else bins whose ends are to be filled in.
fn bin_lines(inputs: &[String], chosen: &ChosenColumns, counts: &CountChoices) -> Result<String, ColumnError> {
    let categories = |name: &String| chosen.categories.iter().find(|(of, _)| of == name).map(|(_, all)| all.len());
    let mut bins =
        counts.bins_per_numeric_input(inputs.iter().filter(|name| categories(name).is_none()).count())?.into_iter();
    let lines = inputs.iter().filter_map(|name| {
        let ends = match categories(name) {
            Some(all) => format!("from = -0.5, to = {:?}, bins = {all}", all as f64 - 0.5),
            // There is a number for each numeric input.
            None => format!("from = nan, to = nan, bins = {}", bins.next()?),
        };
        Some(format!("    {{ {ends} }},   # {}\n", quote_toml(name)))
    });
    Ok(lines.collect())
}

/// Writes the categories of inputs. Rows with any other value are left out, so they count in no bin.
fn categories_and_missing_toml(chosen: &ChosenColumns) -> String {
    if chosen.categories.is_empty() {
        return "# missing = \"drop\"   # leaves out rows in which a required cell is missing: empty, null, NA or NaN"
            .to_owned();
    }
    let lists = chosen.categories.iter().map(|(name, all)| format!("{} = {}", quote_toml(name), name_list_toml(all)));
    let lists = lists.collect::<Vec<_>>().join(", ");
    format!(
        "encode = {{ {lists} }}\nmissing = \"drop\"   # rows with any other category, or without one, are not counted"
    )
}

/// Quotes a text for TOML, on one line.
fn quote_toml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn name_list_toml(names: &[String]) -> String {
    format!("[{}]", quoted_names(names))
}

fn quoted_names(names: &[String]) -> String {
    names.iter().map(|name| quote_toml(name)).collect::<Vec<_>>().join(", ")
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

//! `dpgp new`: a spec to start from.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use super::CliError;
use super::emit::quote_for_shell;
use super::new_ask::{ask_person_column_and_limit, ask_questions, ask_row_count, begin_dialogue};
use super::options::{OutputFormat, add_option_conflicts, announce_project};
use super::output::Spinner;
use super::output::{NewSpecOutput, new_file_error, print, print_json, write_new};
use dpgp_data::{ColumnNameSource, Separator, is_hidden_char, read_limited_text};
use dpgp_fs::existing_parent_folder;
use dpgp_number::text::count_with_noun;
use dpgp_release::draft::{
    ChosenColumns, ColumnRoles, CountChoices, CountNeighbourRelation, GeneratedSpec, PersonColumnAndLimit,
    ProtectedPart, SpecDraft, UserDataFile, describe_file, first_names_text, generate_spec, indent_first_lines,
    note_bounds_origin, read_released_bounds, set_remaining_budget, total_budget,
};
use dpgp_release::grid_template;
use dpgp_report::{format_exact, spec_from_paper_table};
use dpgp_run::{DataLocations, Project};
use dpgp_spec::strip_paper_content;

const EXAMPLES: &str = "\
Without --data or --from, the spec runs as is on a few example rows, and its comments say what to change. With --data, the spec names
the columns of the file and leaves public bounds and lengthscales for you to fill in. Do not read these numbers off the data.
A comment in the spec shows the key that drops rows with missing cells. The command does not report whether the file has such rows.

Examples:
  dpgp new my-study && dpgp run my-study.toml
  dpgp new ridge --command                    writes ridge.toml and ridge.py, a program to start from
  dpgp new paper --from-table table.csv --metrics rmse    writes paper.toml, for grading runs; see dpgp grade
  dpgp new mine --from smith2021/table1       a copy of a shipped experiment, without the paper's numbers
  dpgp new --data energy.csv                  writes energy.toml
  dpgp new --data trips.parquet my-trips      writes my-trips.toml
  dpgp new --data energy.csv --target kwh --inputs day,temperature    default: predict the last numeric column from all others
  dpgp new --data energy.csv --ask            asks for bounds, lengthscales and epsilon, and whether a person can have several rows
  dpgp new --data visits.csv --person patient --rows-per-person 5   protects all visits of a patient; at most 5 are used
  dpgp new --data rows.csv --columns age,height    a file without a header; --no-header names the columns column1, column2, ...
  dpgp new --data rows.txt --separator '|'    default: comma, semicolon or tab, whichever all rows use
  dpgp new --data trips.parquet --private-inputs   protect the inputs too
  dpgp new --data trips.csv --target minutes --private-bounds      a separate private release of bounds, if none are known
  dpgp new --data trips.csv --count --inputs longitude,latitude    count rows by place
  dpgp new --data visits.csv --count --categories district=North,South,West    count rows by category";

/// The spec that users start from.
const TEMPLATE: &str = include_str!("new.toml");

/// Options that need --data.
const OF_DATA: &[&str] = &[
    "columns",
    "no_header",
    "separator",
    "target",
    "inputs",
    "count",
    "categories",
    "bins",
    "relation",
    "private_bounds",
    "bounds_from",
    "private_inputs",
    "person",
    "rows_per_person",
    "ask",
];

/// Arguments of `dpgp new`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| add_option_conflicts(arg, OF_DATA, &["from", "command", "from_table"])),
    mut_args(|arg| add_option_conflicts(arg, &["metrics"], &["data", "from", "command"])),
    mut_args(|arg| add_option_conflicts(arg, &["categories", "bins", "relation"], &["target", "private_inputs", "private_bounds"]))
)]
pub struct NewArguments {
    /// The name of the experiment; its spec is NAME.toml [default with --data, --from or --from-table: the name of that file or experiment]
    #[arg(value_name = "NAME", required_unless_present_any = ["data", "from", "from_table"])]
    name: Option<String>,
    /// Copy the settings of a shipped experiment, without the paper's numbers and claims
    #[arg(long, value_name = "EXPERIMENT", conflicts_with = "data")]
    from: Option<String>,
    /// Write a spec that runs a program of your own in any language, and a short Python program to start from
    #[arg(long, requires = "name", conflicts_with_all = ["data", "from"])]
    command: bool,
    /// Write a spec with the numbers published in a paper, which you have copied into this CSV file
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["data", "from", "command"])]
    from_table: Option<PathBuf>,
    /// The columns of the table that hold the numbers published in the paper [default: the column `value`, with the metric named in
    /// the column `metric`]
    #[arg(long, value_name = "NAMES", requires = "from_table", value_delimiter = ',')]
    metrics: Vec<String>,
    /// A CSV file with a header, or a Parquet file; its column names go into the spec
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Column names for a CSV file without a header
    #[arg(long, value_name = "NAMES", requires = "data", value_delimiter = ',', value_parser = column_name)]
    columns: Vec<String>,
    /// The CSV file has no header; without --columns, its columns are named column1, column2, ...
    #[arg(long, requires = "data")]
    no_header: bool,
    /// Separator of the CSV file: one ASCII character, or `tab` [default: comma, semicolon or tab, whichever all rows use]
    #[arg(long, value_name = "CHARACTER", requires = "data", value_parser = separator)]
    separator: Option<u8>,
    /// The column to predict [default: the last numeric column that is not an input]
    #[arg(long, value_name = "COLUMN", requires = "data")]
    target: Option<String>,
    /// The columns to predict from, separated by commas [default: all other numeric columns]
    #[arg(long, value_name = "NAMES", requires = "data", value_delimiter = ',', value_parser = column_name)]
    inputs: Vec<String>,
    /// Count rows by their inputs, instead of predicting a target
    #[arg(long, requires = "data", conflicts_with_all = ["target", "private_inputs"])]
    count: bool,
    /// With --count: NAME=A,B,C, a text column and a public list of its categories, not read off the rows. Each category gets a count, and
    /// rows with any other value are not counted. Repeat the option for several columns
    #[arg(long, value_name = "NAME=LIST", requires = "count", value_parser = column_categories)]
    categories: Vec<(String, Vec<String>)>,
    /// With --count: the numbers of bins, one for each numeric input, separated by commas [default: 64 for one input, 48 each for two]
    #[arg(long, value_name = "LIST", requires = "count", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    bins: Vec<u32>,
    /// With --count: whether neighbours differ by adding or removing one row, or by replacing one. Counts can share a budget with
    /// means of the same rows only with replace-one
    #[arg(long, value_name = "RELATION", requires = "count", default_value = "add-remove")]
    relation: RelationArgument,
    /// Write a spec that releases private bounds of the target, for at most a tenth of the budget; the release protects whole records
    #[arg(long, requires_all = ["data", "target"], conflicts_with_all = ["count", "private_inputs", "inputs", "ask"])]
    private_bounds: bool,
    /// Take the bounds of the target from released counts, and subtract the cost of the counts from the budget
    #[arg(long, value_name = "COUNTS.json", requires_all = ["data", "private_inputs"], conflicts_with_all = ["count", "private_bounds"])]
    bounds_from: Option<PathBuf>,
    /// Protect whole records, including their inputs, instead of the target alone
    #[arg(long, requires = "data")]
    private_inputs: bool,
    /// The column that identifies the person, if one person can have several rows; protects all rows of a person
    #[arg(long, value_name = "COLUMN", requires_all = ["data", "rows_per_person"])]
    person: Option<String>,
    /// The maximum number of rows used per person, a public number; the noise grows with it
    #[arg(long, value_name = "ROWS", requires = "person", value_parser = clap::value_parser!(u32).range(1..))]
    rows_per_person: Option<u32>,
    /// Ask for each number or range to fill in, and write the spec when it is valid (`<` goes back one question, `quit` stops)
    #[arg(long, requires = "data")]
    ask: bool,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Neighbouring data sets of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RelationArgument {
    /// One row is added or removed; the number of rows is private.
    AddRemove,
    /// One row is replaced; the number of rows is public.
    ReplaceOne,
}

/// Writes a spec to start from. Fails if the file exists.
pub fn new(arguments: &NewArguments, format: OutputFormat) -> Result<(), CliError> {
    let origin = arguments.data.as_deref().or(arguments.from.as_deref().map(Path::new));
    let origin = origin.or(arguments.from_table.as_deref());
    let stem = origin.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.map(|stem| if arguments.private_bounds { format!("{stem}-bounds") } else { stem });
    let said = arguments.name.clone().or(stem).unwrap_or_default();
    let name = said.strip_suffix(".toml").unwrap_or(&said);
    if name.is_empty() || name.ends_with('/') {
        return Err(CliError::NoName(said));
    }
    let path = PathBuf::from(format!("{name}.toml"));
    let protected = match (arguments.count, arguments.private_inputs) {
        _ if arguments.private_bounds => ProtectedPart::Bounds,
        (true, _) => ProtectedPart::Row,
        (false, true) => ProtectedPart::Record,
        (false, false) => ProtectedPart::Target,
    };
    if arguments.command {
        return write_spec_and_program(&path, format);
    }
    if let Some(table) = &arguments.from_table {
        return write_paper_numbers_spec(&path, table, &arguments.metrics, format);
    }
    // Refuse an existing file before asking questions.
    if path.symlink_metadata().is_ok() {
        return Err(CliError::Exists(path));
    }
    existing_parent_folder(&path).map_err(|cause| new_file_error(&path, cause))?;
    let mut people = arguments.person_column_and_limit();
    let mut said = None;
    let (text, own) = match (&arguments.data, &arguments.from) {
        (None, None) => (TEMPLATE.to_owned(), None),
        (None, Some(name)) => (copy_shipped_spec(name)?, None),
        (Some(file), _) => {
            let waiting = Spinner::start(&format!("reading {}", file.display()), arguments.quiet);
            let (name, columns) = (path_in_spec(&path, file), arguments.column_name_source());
            let separator = arguments.separator;
            let (chosen, counts) = (&arguments.chosen_columns(), &arguments.choices_for_counts());
            let people_known = people.as_ref();
            let file =
                UserDataFile { path: file, name: &name, columns, separator, chosen, people: people_known, counts };
            // Who has several rows is asked before columns are chosen: an identifier is no input.
            let described = describe_file(&file)?;
            let mut asked = people.clone();
            if arguments.ask {
                drop(waiting);
                let mut input = begin_dialogue();
                if asked.is_none() {
                    asked = ask_person_column_and_limit(&mut input, &described.table.columns)?;
                }
                if let (Some(asked), ProtectedPart::Record) = (&mut asked, protected) {
                    asked.rows = Some(ask_row_count(&mut input)?);
                }
                said = Some(input);
            }
            let generated = generate_spec(&UserDataFile { people: asked.as_ref(), ..file }, described, protected)?;
            people = asked;
            let GeneratedSpec { text, roles, left_out } = generated;
            (text, Some((roles, left_out)))
        }
    };
    let released = match &arguments.bounds_from {
        None => None,
        Some(file) => Some(read_released_bounds(file, own.as_ref().and_then(|(roles, _)| roles.target.as_deref()))?),
    };
    let ends = released.as_ref().map(|released| [released.low, released.high]);
    let text = match (&released, &arguments.bounds_from) {
        (Some(released), Some(file)) => set_remaining_budget(&text, file, released.mu)?,
        _ => text,
    };
    let mut draft = SpecDraft::new(&text);
    ends.iter().for_each(|ends| draft.set_target_bounds(*ends));
    let text = match said {
        Some(said) => ask_questions(draft, &path, said)?,
        None if ends.is_some() => draft.text_with_bounds_filled(),
        None => text,
    };
    let text = match &arguments.bounds_from {
        Some(file) => note_bounds_origin(&text, &file.display().to_string()),
        None => text,
    };
    write_new(&path, &text)?;
    if format == OutputFormat::Json {
        let (roles, left_out) = own.unzip();
        let (target, inputs) = roles.map(|roles| (roles.target, roles.inputs)).unzip();
        let target = target.flatten();
        return print_json(&json!(NewSpecOutput { written: path, target, inputs, left_out }));
    }
    let (shown, spec) = (path.display(), quote_for_shell(&command_line_path(&path)));
    if let (ProtectedPart::Bounds, Some(data)) = (protected, &arguments.data) {
        let (budget, target) = (budget_options(total_budget(&text)), arguments.target.as_deref().unwrap_or_default());
        let (data, target) = (quote_for_shell(&data.to_string_lossy()), quote_for_shell(target));
        return print(&format!(
            "wrote {shown}; then:\n  dpgp sum {spec} {data} --release bounds.json{budget}   # the bounds, charged to the ledger of the rows\n  \
             dpgp new --data {data} --target {target} --private-inputs --bounds-from bounds.json   # a spec with these bounds and the rest of the budget\n"
        ));
    }
    match own {
        None => print(&format!("wrote {shown}; try: dpgp run {spec}\n")),
        Some((roles, left_out)) => {
            let (described, grid) =
                (roles_text(&roles, &left_out, arguments.person.as_deref()), grid_option(protected, &roles.inputs));
            let next = if arguments.ask || is_filled_in(&text) { "try" } else { "fill in every `nan` in it, then" };
            let public = public_columns_note(protected, &roles);
            // Bounds that were released have spent a share of the whole.
            let budget =
                if ends.is_some() { budget_options(total_budget(&text)) } else { budget_options(spec_budget(&text)) };
            let map = if roles.inputs.len() <= 2 { " --map NAME.html" } else { "" };
            let preview = format!(
                "\n  dpgp predict {spec} {grid} --preview   # the expected error at each epsilon, from public facts only"
            );
            let measured = match protected {
                ProtectedPart::Row | ProtectedPart::Bounds => "errors against the exact counts: do not publish them",
                ProtectedPart::Target | ProtectedPart::Record => "errors on held-out rows: do not publish them",
            };
            let whom = match &people {
                Some(PersonColumnAndLimit { column, most_rows, .. }) => format!(
                    "the guarantee protects all rows of a person, identified by the column {column:?}; at most {} per person \
                     can be used",
                    count_with_noun(*most_rows as usize, "row", "rows")
                ),
                None => "the guarantee protects one row, not all rows of a person; if a person can have several rows, write the spec \
                     again with --person COLUMN --rows-per-person NUMBER"
                    .to_owned(),
            };
            let anywhere = match (protected, &arguments.data) {
                (ProtectedPart::Record, Some(data)) => format!(
                    "\n  dpgp sum {spec} {} --release NAME.json{budget}   # or this release, from which `predict --from NAME.json` \
                     predicts anywhere, any number of times",
                    quote_for_shell(&data.to_string_lossy())
                ),
                _ => String::new(),
            };
            print(&format!(
                "{described}wrote {shown}; {next}:{preview}\n  dpgp run {spec}   # {measured}\n  dpgp predict {spec} {grid} \
                 --out NAME.csv{map}{budget}   # the release, charged to the ledger of the rows{anywhere}\n{public}{whom}\n\
                 {SHARED_BUDGET}\n"
            ))
        }
    }
}

/// Whether no number of a spec is left to fill in.
fn is_filled_in(spec: &str) -> bool {
    let keys = spec.lines().filter_map(|line| line.split('#').next());
    !keys.flat_map(|keys| keys.split(|c: char| !c.is_alphanumeric())).any(|word| word == "nan")
}

/// What a user must know before the first release.
const SHARED_BUDGET: &str = "the budget is shared by all releases from these rows and cannot be changed later: choose a larger budget \
    to leave room for others, or release several answers at once with --together; releases that protect different things (targets, whole records, \
    added rows) cannot share a budget";

/// Writes a spec for a program, and the program. Neither may exist.
fn write_spec_and_program(path: &Path, format: OutputFormat) -> Result<(), CliError> {
    let program = path.with_extension("py");
    for file in [path, &program] {
        if file.symlink_metadata().is_ok() {
            return Err(CliError::Exists(file.to_path_buf()));
        }
    }
    existing_parent_folder(path).map_err(|cause| new_file_error(path, cause))?;
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let spec = quote_for_shell(&command_line_path(path));
    write_new(&program, include_str!("new_command.py"))?;
    write_new(path, &include_str!("new_command.toml").replace("@PROGRAM@", &name).replace("@SPEC@", &spec))?;
    if format == OutputFormat::Json {
        return print_json(&json!(NewSpecOutput {
            written: path.to_path_buf(),
            target: None,
            inputs: None,
            left_out: None
        }));
    }
    print(&format!("wrote {} and {}; try: dpgp run {spec}\n", path.display(), program.display()))
}

/// Writes a spec with the numbers published in a paper.
fn write_paper_numbers_spec(
    path: &Path,
    table: &Path,
    metrics: &[String],
    format: OutputFormat,
) -> Result<(), CliError> {
    if path.symlink_metadata().is_ok() {
        return Err(CliError::Exists(path.to_path_buf()));
    }
    existing_parent_folder(path).map_err(|cause| new_file_error(path, cause))?;
    let printed = read_limited_text(table).map_err(CliError::io_error_at(table))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let spec = quote_for_shell(&command_line_path(path));
    let text = spec_from_paper_table(&printed, metrics, &name, &spec)
        .map_err(|cause| CliError::PrintedTable { path: table.to_path_buf(), cause })?;
    write_new(path, &text)?;
    if format == OutputFormat::Json {
        let (written, target, inputs, left_out) = (path.to_path_buf(), None, None, None);
        return print_json(&json!(NewSpecOutput { written, target, inputs, left_out }));
    }
    print(&format!("wrote {}; compare runs with it: dpgp grade RUNS.csv --experiment {spec}\n", path.display()))
}

/// Returns the budget of one release of a spec. `None` if the spec names no privacy.
fn spec_budget(spec: &str) -> Option<(f64, f64)> {
    let table: toml::Table = toml::from_str(spec).ok()?;
    let number = |key: &str| table.get("privacy")?.get(key)?.as_float();
    number("epsilon").zip(number("delta"))
}

/// Writes the options of a budget. Empty without one.
fn budget_options(budget: Option<(f64, f64)>) -> String {
    budget.map_or_else(String::new, |(epsilon, delta)| {
        format!(" --budget-epsilon {} --budget-delta {}", format_exact(epsilon), format_exact(delta))
    })
}

/// Names the columns that are not protected. Empty if there are none.
fn public_columns_note(protected: ProtectedPart, roles: &ColumnRoles) -> String {
    let (ProtectedPart::Target, Some(target)) = (protected, &roles.target) else { return String::new() };
    let inputs = first_names_text(&roles.inputs, MOST_SHOWN);
    format!(
        "only the target {target:?} is private: the inputs ({inputs}) are treated as public (use --private-inputs to protect them)\n"
    )
}

/// The most inputs to list.
const MOST_SHOWN: usize = 20;

/// Describes the roles of the columns. Empty if the user named both target and inputs.
fn roles_text(roles: &ColumnRoles, left_out: &[String], person: Option<&str>) -> String {
    let ColumnRoles { target, inputs, told_target, told_inputs, identifiers, .. } = roles;
    let mut left = match left_out {
        [] => String::new(),
        lines => format!("left out:{}\n", indent_first_lines(lines)),
    };
    for name in identifiers.iter().filter(|name| person != Some(name.as_str())) {
        left.push_str(&format!(
            "{name:?} looks like an identifier, so it is not used; if one {name:?} can have several rows, use --person {} \
             --rows-per-person N\n",
            quote_for_shell(name)
        ));
    }
    let Some(target) = target else {
        let why = if *told_inputs { "" } else { " (use --inputs to choose others)" };
        return format!("rows counted by {}{why}\n{left}", first_names_text(inputs, MOST_SHOWN));
    };
    let why = match (told_target, told_inputs) {
        (true, true) => return String::new(),
        (false, true) => " (use --target to choose another)",
        (true, false) => " (use --inputs to choose others)",
        (false, false) => " (use --target and --inputs to choose others)",
    };
    format!("target {target:?}, predicted from {}{why}\n{left}", first_names_text(inputs, MOST_SHOWN))
}

/// Writes the option for the points of a preview: the map for private inputs, else ranges of one or two inputs, or a file if `--grid` cannot
/// name the inputs.
fn grid_option(protected: ProtectedPart, inputs: &[String]) -> String {
    if matches!(protected, ProtectedPart::Target) && !can_name_in_grid(inputs) {
        return "--at grid.csv".to_owned();
    }
    match protected {
        ProtectedPart::Record | ProtectedPart::Row | ProtectedPart::Bounds => "--grid auto".to_owned(),
        // With `=`, because the name of a column may begin with a dash.
        ProtectedPart::Target => format!("--grid={}", quote_for_shell(&grid_template(inputs))),
    }
}

/// The most inputs in a `--grid` option.
const MOST_IN_WORDS: usize = 20;

/// Returns whether `--grid` can name the inputs. A comma ends a name, and hidden characters cannot be copied from a terminal.
fn can_name_in_grid(inputs: &[String]) -> bool {
    inputs.len() <= MOST_IN_WORDS && inputs.iter().all(|name| !name.contains(',') && !name.chars().any(is_hidden_char))
}

/// Parses a column name, which must not be empty.
fn column_name(name: &str) -> Result<String, String> {
    match name.trim() {
        "" => Err("a column name is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Parses the categories of a column: `NAME=A,B,C`.
fn column_categories(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, list) = text.split_once('=').ok_or("write the categories of a column as NAME=A,B,C")?;
    let categories: Vec<String> = list.split(',').map(|category| category.trim().to_owned()).collect();
    if categories.iter().any(String::is_empty) {
        return Err("a category is empty".to_owned());
    }
    match categories.iter().enumerate().find(|(place, category)| categories[..*place].contains(category)) {
        Some((_, twice)) => Err(format!("the category {twice:?} is listed twice")),
        None => Ok((column_name(name)?, categories)),
    }
}

/// Parses a separator, as its character or its name.
fn separator(text: &str) -> Result<u8, String> {
    let text = if ["tab", "\\t"].contains(&text) { "\t" } else { text };
    match text.as_bytes() {
        [byte] if Separator::is_allowed_char(char::from(*byte)) => Ok(*byte),
        _ => Err(format!("use {}, or `tab`", Separator::ONE)),
    }
}

/// Writes a path as an argument, so that one that begins with a dash is not taken for an option.
fn command_line_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    if path.starts_with('-') { format!("./{path}") } else { path.into_owned() }
}

/// Copies the spec of a shipped experiment.
fn copy_shipped_spec(name: &str) -> Result<String, CliError> {
    let experiment = announce_project(Project::open(&DataLocations::default())?).find_one_experiment(name)?;
    let settings = strip_paper_content(experiment.source.text()).unwrap_or_default();
    let (name, version) = (&experiment.name, env!("CARGO_PKG_VERSION"));
    Ok(format!("# A copy of {name} (dpgp {version}), without the paper's numbers and claims.\n{settings}"))
}

impl NewArguments {
    /// Returns the target and inputs from the options. For private bounds, rows are counted by their target, which is then the only input.
    fn chosen_columns(&self) -> ChosenColumns {
        match self.private_bounds {
            true => ChosenColumns { inputs: self.target.iter().cloned().collect(), ..ChosenColumns::default() },
            false => ChosenColumns {
                target: self.target.clone(),
                inputs: self.inputs.clone(),
                categories: self.categories.clone(),
            },
        }
    }

    fn choices_for_counts(&self) -> CountChoices {
        let relation = match self.relation {
            RelationArgument::AddRemove => CountNeighbourRelation::AddRemove,
            RelationArgument::ReplaceOne => CountNeighbourRelation::ReplaceOne,
        };
        CountChoices { bins: self.bins.clone(), relation }
    }

    /// The person column and the most rows per person, from `--person` and `--rows-per-person`; `None` without them.
    fn person_column_and_limit(&self) -> Option<PersonColumnAndLimit> {
        Some(PersonColumnAndLimit { column: self.person.clone()?, most_rows: self.rows_per_person?, rows: None })
    }

    fn column_name_source(&self) -> ColumnNameSource {
        match (&self.columns[..], self.no_header) {
            ([], false) => ColumnNameSource::Header,
            ([], true) => ColumnNameSource::Numbered,
            (names, _) => ColumnNameSource::Listed(names.to_vec()),
        }
    }
}

/// Returns the path of a file as a spec names it, relative to the spec.
fn path_in_spec(spec: &Path, file: &Path) -> String {
    let same_folder = spec.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    let whole = if same_folder { None } else { std::fs::canonicalize(file).ok() };
    whole.as_deref().unwrap_or(file).to_string_lossy().into_owned()
}

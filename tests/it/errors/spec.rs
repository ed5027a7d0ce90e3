//! Every mistake in a spec ends with exit code 2, a message that names the place, and nothing on disk.

use crate::support::cli::{Project, Run};
use crate::support::coverage::assert_covered;

/// A spec without mistakes.
const SOUND: &str = r#"[experiment]
title = "sound"

[data]
source.csv = { path = "heights.csv", separator = ";" }
inputs = ["age"]
target = "height"
filter = [{ column = "male", is = "==", value = 0 }]

[normalise.bounds]
low = 50.0
high = 200.0

[model]
noise_variance = 25.0
kernel.eq = { variance = 100.0, lengthscale = 10.0 }

[task.regression]
split.shuffled = 3
draws = 5

[privacy]
epsilon = 1.0
delta = 0.01
change = 150.0
calibration = "analytic"
mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 }

[grid]
"privacy.epsilon" = [1.0, inf]

[published.table]
all = { metric = "rmse", source = "nowhere" }
columns = ["epsilon", "value"]
rows = [[1.0, 30.0]]
"#;

const HEIGHTS: &str = "height;age;male\r\n151.7;63;0\r\n139.7;61;0\r\n136.5;65;0\r\n156.8;41;1\r\n145.4;51;0\r\n163.8;35;1\r\n149.2;32;0\r\n110.0;8;0\r\n";

fn project(spec: &str) -> Project {
    let project = Project::with_study(spec);
    project.write("heights.csv", HEIGHTS);
    project
}

/// A spec without mistakes that needs no file.
const SELECTION: &str = r#"experiment.title = "sound"

[data]
source.inline = { x = [0.0, 1.0, 2.0, 3.0, 4.0], y = [0.1, 0.2, 0.4, 0.3, 0.5], z = [1.0, 1.0, 1.0, 1.0, 0.0] }
inputs = ["x"]
target = "y"
filter = [{ column = "z", is = "==", value = 1.0 }]

[model]
noise_variance = 1.0
kernel.eq-ard = { variance = 1.0, lengthscales = [1.0] }
sparse.fitc.inducing.points = [[0.0], [1.0]]

[task.selection]
split.contiguous = 2
candidates = [{ polynomial = 0 }, { polynomial = 1 }]
epsilon = 1.0
clip = 4.0
sensitivity = "corrected"

[privacy]
epsilon = inf
delta = 0.01
change = 1.0
mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 }

[axis.method]
full = {}
tight = { "privacy.change" = 0.5 }

[published.table]
all = { metric = "sse/polynomial-0", source = "nowhere" }
columns = ["method", "value"]
rows = [["full", 1.0]]

[[claim]]
text = "the first is larger"
metric = "sse/polynomial-0"
is = "above"
value = 0.0

[figure.intervals]
metrics = ["sse/polynomial-0"]
label = "error"

[quick]
axis.method = ["full"]
experiment.replicates = 1
"#;

/// A mistake: the error that it provokes, what it is, what is replaced in a sound spec, and by what.
type Mistake = (&'static str, &'static str, &'static str, &'static str);

/// Mistakes in [`SOUND`].
const MISTAKES: &[Mistake] = &[
    ("SpecProblem::Shape", "misspelt key", "noise_variance", "noise_varience"),
    ("SpecProblem::Shape", "misspelt section", "[task.regression]", "[task.regresion]"),
    ("SpecProblem::Shape", "wrong type", "draws = 5", "draws = \"five\""),
    ("SpecProblem::Shape", "not TOML", "title = \"sound\"", "title = sound"),
    ("SpecProblem::Shape", "missing section", "[experiment]\ntitle = \"sound\"\n", ""),
    ("SpecProblem::Shape", "missing key", "title = \"sound\"", "paper = \"sound\""),
    ("SpecProblem::Shape", "a duplicate key", "draws = 5", "draws = 5\ndraws = 5"),
    ("SpecProblem::Shape", "grid that is not a list", "[1.0, inf]", "1.0"),
    ("SpecProblem::Shape", "axis that is not a table", "[grid]", "[axis]\nmethod = 5\n[grid]"),
    ("SpecProblem::Shape", "axis label that is not a table", "[grid]", "[axis.method]\nfull = 5\n[grid]"),
    ("SpecProblem::Shape", "unknown kernel", "kernel.eq", "kernel.rbf"),
    ("SpecProblem::Shape", "unknown comparison", "is = \"==\"", "is = \"=\""),
    ("SpecProblem::Shape", "unknown objective", "objective = \"trace\"", "objective = \"race\""),
    ("SpecProblem::UnknownMetric", "published without a metric", "metric = \"rmse\", ", ""),
    ("SpecProblem::Shape", "a row of another length", "[[1.0, 30.0]]", "[[1.0]]"),
    ("SpecProblem::Shape", "not a number", "[[1.0, 30.0]]", "[[1.0, \"30\"]]"),
    ("SpecProblem::Shape", "misspelt key of a published value", "source = \"nowhere\"", "sauce = \"nowhere\""),
    ("SpecProblem::Shape", "privacy without delta", "delta = 0.01\n", ""),
    ("SpecProblem::Shape", "separator of two characters", "separator = \";\"", "separator = \";;\""),
    ("SpecProblem::Shape", "a column without a name", "separator = \";\"", "columns = [\"age\", \" \"]"),
    ("SpecProblem::Empty", "no names of columns", "separator = \";\"", "columns = []"),
    ("SpecProblem::DuplicateValue", "a duplicate column", "separator = \";\"", "columns = [\"age\", \"age\"]"),
    ("SpecProblem::Shape", "negative replicates", "title = \"sound\"", "title = \"sound\"\nreplicates = -1"),
    ("SpecProblem::OutOfRange", "no replicates", "title = \"sound\"", "title = \"sound\"\nreplicates = 0"),
    ("SpecProblem::OutOfRange", "replicates", "title = \"sound\"", "title = \"sound\"\nreplicates = 100001"),
    ("SpecProblem::OutOfRange", "epsilon zero", "epsilon = 1.0\ndelta", "epsilon = 0.0\ndelta"),
    ("SpecProblem::OutOfRange", "epsilon that is not a number", "epsilon = 1.0\ndelta", "epsilon = nan\ndelta"),
    ("SpecProblem::OutOfRange", "negative epsilon in the grid", "[1.0, inf]", "[1.0, -2.0]"),
    ("SpecProblem::OutOfRange", "delta one", "delta = 0.01", "delta = 1.0"),
    ("SpecProblem::OutOfRange", "negative change", "change = 150.0", "change = -1.0"),
    ("SpecProblem::MissingKey", "no change", "change = 150.0\n", ""),
    (
        "SpecProblem::MissingKey",
        "persons without a limit",
        "target = \"height\"",
        "target = \"height\"\nperson = \"male\"",
    ),
    (
        "SpecProblem::MissingKey",
        "a limit without persons",
        "target = \"height\"",
        "target = \"height\"\nrows_per_person = 2",
    ),
    (
        "SpecProblem::OutOfRange",
        "no rows of a person",
        "target = \"height\"",
        "target = \"height\"\nperson = \"male\"\nrows_per_person = 0",
    ),
    (
        "SpecProblem::Shape",
        "persons by the target",
        "target = \"height\"",
        "target = \"height\"\nperson = \"height\"\nrows_per_person = 2",
    ),
    (
        "SpecProblem::Shape",
        "persons by an input",
        "target = \"height\"",
        "target = \"height\"\nperson = \"age\"\nrows_per_person = 2",
    ),
    (
        "SpecProblem::Shape",
        "rows drawn with persons",
        "target = \"height\"",
        "target = \"height\"\nperson = \"male\"\nrows_per_person = 2\ndraw.rows = 3",
    ),
    ("SpecProblem::NarrowChange", "change below the width of the bounds", "change = 150.0", "change = 100.0"),
    (
        "SpecProblem::NotDenoised",
        "denoised medians",
        "cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }",
        "binning = { bins = 3, statistic = \"median\", estimate.bin = {}, denoise = true }",
    ),
    (
        "SpecProblem::NotDenoised",
        "a denoised integral kernel",
        "cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }",
        "binning = { bins = 3, statistic = \"mean\", estimate.integral.fitted = 3, denoise = true }",
    ),
    ("SpecProblem::OutOfRange", "rank tolerance", "1e-8", "1.5"),
    ("SpecProblem::OutOfRange", "one fold", "split.shuffled = 3", "split.shuffled = 1"),
    ("SpecProblem::OutOfRange", "more draws than fit in memory", "draws = 5", "draws = 1000001"),
    ("SpecProblem::OutOfRange", "bounds in the wrong order", "high = 200.0", "high = 20.0"),
    ("SpecProblem::OutOfRange", "negative lengthscale", "lengthscale = 10.0", "lengthscale = -10.0"),
    ("SpecProblem::OutOfRange", "negative spread", "source = \"nowhere\"", "source = \"nowhere\", spread = -1.0"),
    (
        "SpecProblem::QuoteNeedsPlace",
        "a quotation without its place",
        "[published.table]",
        "[[claim]]\nquote = \"It is so.\"\ntext = \"t\"\nmetric = \"rmse\"\nis = \"above\"\nvalue = 0.0\n[published.table]",
    ),
    ("SpecProblem::TooManyFolds", "more folds than rows", "split.shuffled = 3", "split.shuffled = 30"),
    ("SpecProblem::NoRows", "a filter that no row passes", "is = \"==\", value = 0", "is = \"==\", value = 7"),
    ("SpecProblem::Empty", "empty grid", "[1.0, inf]", "[]"),
    ("SpecProblem::Empty", "no inputs", "inputs = [\"age\"]", "inputs = []"),
    ("SpecProblem::UnknownPath", "grid: unknown key", "\"privacy.epsilon\"", "\"privacy.epsilom\""),
    ("SpecProblem::UnknownPath", "grid: unknown section", "\"privacy.epsilon\"", "\"privcy.epsilon\""),
    ("SpecProblem::UnknownPath", "grid path inside a value", "\"privacy.epsilon\"", "\"privacy.delta.x\""),
    ("SpecProblem::BadAxisValue", "grid value of the wrong type", "[1.0, inf]", "[1.0, \"none\"]"),
    ("SpecProblem::DuplicateValue", "the same value twice", "[1.0, inf]", "[1, 1.0]"),
    ("SpecProblem::DuplicateAxis", "duplicate axis", "[grid]", "[axis.\"privacy.epsilon\"]\na = {}\n[grid]"),
    (
        "SpecProblem::OverlappingAxes",
        "axes that set one path",
        "[grid]",
        "[axis.method]\na = { \"privacy.epsilon\" = 2.0 }\n[grid]",
    ),
    ("SpecProblem::ReservedAxis", "axis with the name of a column", "[grid]", "[axis.metric]\na = {}\n[grid]"),
    ("SpecProblem::SelectsNothing", "published for an unknown cell", "[[1.0, 30.0]]", "[[3.0, 30.0]]"),
    (
        "SpecProblem::SelectsMany",
        "published for many cells",
        "columns = [\"epsilon\", \"value\"]\nrows = [[1.0, 30.0]]",
        "columns = [\"value\"]\nrows = [[30.0]]",
    ),
    ("SpecProblem::UnknownAxis", "published for an unknown axis", "columns = [\"epsilon\"", "columns = [\"eps\""),
    ("SpecProblem::UnknownAxis", "no axes", "[grid]\n\"privacy.epsilon\" = [1.0, inf]\n", ""),
    ("SpecProblem::UnknownMetric", "published for an unknown metric", "metric = \"rmse\"", "metric = \"mae\""),
    ("SpecProblem::ValueTwice", "published twice", "[[1.0, 30.0]]", "[[1.0, 30.0], [1.0, 3.0]]"),
    (
        "SpecProblem::UnknownDataset",
        "unknown dataset",
        "source.csv = { path = \"heights.csv\", separator = \";\" }",
        "source.dataset = \"howel1\"",
    ),
    (
        "SpecProblem::NotATable",
        "dataset of images",
        "source.csv = { path = \"heights.csv\", separator = \";\" }",
        "source.dataset = \"mnist\"",
    ),
    ("SpecProblem::TargetIsInput", "target among the inputs", "inputs = [\"age\"]", "inputs = [\"age\", \"height\"]"),
    ("SpecProblem::BadSeparator", "separator beyond ASCII", "separator = \";\"", "separator = \"\u{e9}\""),
    ("SpecProblem::BadSeparator", "separator in numbers", "separator = \";\"", "separator = \".\""),
    ("SpecProblem::Shape", "a column named like a number", "separator = \";\"", "columns = [\"age\", \"5.25\"]"),
    (
        "SpecProblem::BadAxisValue",
        "grid value that lacks a key",
        "\"privacy.epsilon\" = [1.0, inf]",
        "\"model.kernel\" = [{ eq = { variance = 1.0 } }]",
    ),
    (
        "SpecProblem::MissingSection",
        "no model",
        "[model]\nnoise_variance = 25.0\nkernel.eq = { variance = 100.0, lengthscale = 10.0 }\n",
        "",
    ),
];

/// Mistakes in [`SELECTION`].
const OTHER_MISTAKES: &[Mistake] = &[
    ("SpecProblem::OnlySomeCells", "a key that one label of an axis lacks", "change = 1.0\n", ""),
    ("SpecProblem::UnknownInline", "unknown inline column", "inputs = [\"x\"]", "inputs = [\"w\"]"),
    ("SpecProblem::UnknownInline", "unknown column in a filter", "column = \"z\"", "column = \"w\""),
    ("SpecProblem::InlineRows", "short inline column", "x = [0.0, 1.0, 2.0, 3.0, 4.0]", "x = [0.0, 1.0]"),
    ("SpecProblem::Empty", "inline columns without rows", "y = [0.1, 0.2, 0.4, 0.3, 0.5]", "y = []"),
    ("SpecProblem::OutOfRange", "inline infinity", "y = [0.1,", "y = [inf,"),
    (
        "SpecProblem::QuoteNeedsPlace",
        "a quotation without its place",
        "[published.table]",
        "[[claim]]\nquote = \"It is so.\"\ntext = \"t\"\nmetric = \"rmse\"\nis = \"above\"\nvalue = 0.0\n[published.table]",
    ),
    ("SpecProblem::TooManyFolds", "more folds than rows", "split.contiguous = 2", "split.contiguous = 5"),
    ("SpecProblem::WrongDimension", "lengthscales", "lengthscales = [1.0]", "lengthscales = [1.0, 2.0]"),
    ("SpecProblem::WrongDimension", "inducing inputs", "[[0.0], [1.0]]", "[[0.0], [1.0, 2.0]]"),
    ("SpecProblem::Empty", "no inducing inputs", "[[0.0], [1.0]]", "[]"),
    ("SpecProblem::Empty", "no candidates", "[{ polynomial = 0 }, { polynomial = 1 }]", "[]"),
    ("SpecProblem::DuplicateValue", "the same candidate twice", "{ polynomial = 1 }", "{ polynomial = 0 }"),
    ("SpecProblem::OutOfRange", "degree", "{ polynomial = 1 }", "{ polynomial = 21 }"),
    (
        "SpecProblem::MissingSection",
        "no task",
        "[task.selection]\nsplit.contiguous = 2\ncandidates = [{ polynomial = 0 }, { polynomial = 1 }]\nepsilon = 1.0\nclip = 4.0\nsensitivity = \"corrected\"\n",
        "",
    ),
    (
        "SpecProblem::Shape",
        "persons when rows are protected",
        "target = \"y\"",
        "target = \"y\"\nperson = \"z\"\nrows_per_person = 1",
    ),
    (
        "SpecProblem::UnknownInline",
        "persons by an unknown column",
        "target = \"y\"",
        "target = \"y\"\nperson = \"w\"\nrows_per_person = 1",
    ),
    (
        "SpecProblem::OnlyPredictions",
        "the objective risk",
        "{ objective = \"trace\", rank_tolerance = 1e-8 }",
        "{ objective = \"risk\" }",
    ),
    (
        "SpecProblem::MissingKey",
        "no rank rule",
        "objective = \"trace\", rank_tolerance = 1e-8",
        "objective = \"trace\"",
    ),
    ("SpecProblem::CorrectedNeedsClip", "correction without a clip", "clip = 4.0", "clip = 3.0"),
    ("SpecProblem::ClaimNeedsOneSide", "claim without a side", "value = 0.0\n", ""),
    ("SpecProblem::ClaimNeedsOneSide", "claim with two sides", "value = 0.0", "value = 0.0\nother = {}"),
    (
        "SpecProblem::OtherMetricNeedsCells",
        "other metric without cells",
        "value = 0.0",
        "value = 0.0\nother_metric = \"sse/polynomial-0\"",
    ),
    (
        "SpecProblem::SelectsNothing",
        "claim about an unknown cell",
        "is = \"above\"",
        "is = \"above\"\ncells = { method = \"x\" }",
    ),
    ("SpecProblem::Empty", "figure without metrics", "metrics = [\"sse/polynomial-0\"]", "metrics = []"),
    ("SpecProblem::UnknownMetric", "figure of an unknown metric", "metrics = [\"sse/", "metrics = [\"sie/"),
    ("SpecProblem::Empty", "axis without labels", "full = {}\ntight = { \"privacy.change\" = 0.5 }\n", ""),
    ("SpecProblem::OutOfRange", "value on a named axis", "\"privacy.change\" = 0.5", "\"privacy.change\" = 0.0"),
];

/// Mistakes in the `[quick]` table of [`SELECTION`].
const QUICK_MISTAKES: &[Mistake] = &[
    ("SpecProblem::Shape", "quick setting that cannot change", "experiment.replicates = 1", "published = []"),
    ("SpecProblem::Shape", "misspelt key", "experiment.replicates = 1", "experiment.replicate = 1"),
    ("SpecProblem::Shape", "misspelt key of a section", "experiment.replicates = 1", "privacy.epsilom = 1.0"),
    ("SpecProblem::Shape", "wrong type", "experiment.replicates = 1", "experiment.replicates = \"one\""),
    ("SpecProblem::Shape", "axis that is not a table", "axis.method = [\"full\"]", "axis = [\"full\"]"),
    ("SpecProblem::Shape", "axis that is not a list", "axis.method = [\"full\"]", "axis.method = \"full\""),
    ("SpecProblem::OutOfRange", "no replicates", "experiment.replicates = 1", "experiment.replicates = 0"),
    ("SpecProblem::OutOfRange", "value of a section", "experiment.replicates = 1", "privacy.delta = 2.0"),
    ("SpecProblem::OutOfRange", "value of a grid", "experiment.replicates = 1", "grid.\"privacy.delta\" = [2.0]"),
    ("SpecProblem::Empty", "no labels", "axis.method = [\"full\"]", "axis.method = []"),
    ("SpecProblem::SelectsNothing", "unknown label", "axis.method = [\"full\"]", "axis.method = [\"fall\"]"),
    ("SpecProblem::UnknownAxis", "unknown axis", "axis.method = [\"full\"]", "axis.methods = [\"full\"]"),
];

/// A classifier without mistakes.
const POSTERIOR: &str = r#"[experiment]
title = "classifier"

[data]
source.inline = { x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], y = [0.0, 1.0, 0.0, 1.0, 1.0, 1.0] }
inputs = ["x"]
target = "y"

[task.posterior]
model.logistic = { prior_variance = 1.0 }
positive = { is = ">=", value = 1.0 }
train = 4
method.advi = { family = "full-rank", steps = 5, rate = 0.5, sampling = "poisson", learning_rate = 0.1 }

[privacy]
epsilon = 1.0
delta = 0.01
mechanism.gradient = { clip = 1.0, accountant = "loss-distribution", relation = "add-remove" }

[grid]
"task.posterior.method.advi.steps" = [5, 10]

[axis.family]
full = {}
mean = { "task.posterior.method.advi.family" = "mean-field" }

[figure.lines]
metric = "accuracy"
x = "steps"
lines = "family"
x_label = "steps"
label = "accuracy"
"#;

/// Mistakes in [`POSTERIOR`].
const POSTERIOR_MISTAKES: &[Mistake] = &[
    ("SpecProblem::NothingToTest", "trains on all rows", "train = 4", "train = 6"),
    ("SpecProblem::MissingKey", "no clip", "clip = 1.0, ", ""),
    (
        "SpecProblem::WrongMechanism",
        "targets protected",
        "gradient = { clip = 1.0, accountant = \"loss-distribution\", relation = \"add-remove\" }",
        "cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }",
    ),
    ("SpecProblem::OutOfRange", "rate above 1", "rate = 0.5", "rate = 1.5"),
    ("SpecProblem::OutOfRange", "no learning rate", "learning_rate = 0.1", "learning_rate = 0.0"),
    ("SpecProblem::OutOfRange", "prior without variance", "prior_variance = 1.0", "prior_variance = 0.0"),
    (
        "SpecProblem::OutOfRange",
        "private mode",
        "method.advi = { family = \"full-rank\", steps = 5, rate = 0.5, sampling = \"poisson\", learning_rate = 0.1 }",
        "method.mode = {}",
    ),
    ("SpecProblem::Shape", "unknown accountant", "\"loss-distribution\"", "\"moments\""),
    ("SpecProblem::Shape", "codes of another column", "target = \"y\"", "target = \"y\"\nencode.z = [\"a\"]"),
    ("SpecProblem::Shape", "words along the x axis", "x = \"steps\"", "x = \"family\""),
    ("SpecProblem::UnknownAxis", "lines by an unknown axis", "lines = \"family\"", "lines = \"clip\""),
];

/// A density without mistakes.
const DENSITY: &str = r#"[experiment]
title = "density"

[data]
source.inline = { x = [0.5, 1.5, 2.5], n = [1.0, 2.0, 3.0] }
inputs = ["x"]
target = "n"

[task.density]
bins = [{ from = 0.0, to = 3.0, bins = 3 }]
test = [{ from = 0.0, to = 3.0, bins = 6 }]
draws = 1
estimate.process = { observed = "average", lengthscales = [1.0] }

[privacy]
epsilon = 1.0
delta = 0.01
mechanism.histogram = { relation = "add-remove" }
"#;

/// Mistakes in [`DENSITY`].
const DENSITY_MISTAKES: &[Mistake] = &[
    (
        "SpecProblem::MissingKey",
        "persons with rows of any number of records",
        "n = [1.0, 2.0, 3.0] }\ninputs = [\"x\"]\ntarget = \"n\"",
        "n = [1.0, 2.0, 3.0], i = [1, 1, 2] }\ninputs = [\"x\"]\ntarget = \"n\"\nperson = \"i\"\nrows_per_person = 2",
    ),
    (
        "SpecProblem::OutOfRange",
        "rows of zero records",
        "relation = \"add-remove\"",
        "relation = \"add-remove\", most_per_row = 0",
    ),
    ("SpecProblem::WrongDimension", "no bins", "bins = [{ from = 0.0, to = 3.0, bins = 3 }]", "bins = []"),
    ("SpecProblem::OutOfRange", "bins that end before they begin", "to = 3.0, bins = 3", "to = -3.0, bins = 3"),
    ("SpecProblem::OutOfRange", "too many bins", "to = 3.0, bins = 6", "to = 3.0, bins = 60000"),
    ("SpecProblem::WrongDimension", "two lengthscales", "lengthscales = [1.0]", "lengthscales = [1.0, 2.0]"),
    ("SpecProblem::OutOfRange", "lengthscale of zero", "lengthscales = [1.0]", "lengthscales = [0.0]"),
    ("SpecProblem::Empty", "no search", "lengthscales = [1.0]", "widths = []"),
    (
        "SpecProblem::WrongMechanism",
        "histogram hidden by cloaking",
        "histogram = { relation = \"add-remove\" }",
        "cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }",
    ),
    (
        "SpecProblem::NotDenoised",
        "denoised counts",
        "estimate.process = { observed = \"average\", lengthscales = [1.0] }\n\n[privacy]\nepsilon = 1.0\ndelta = 0.01\nmechanism.histogram = { ",
        "estimate.histogram = {}\n\n[privacy]\nepsilon = 1.0\ndelta = 0.01\nmechanism.histogram = { denoise = true, ",
    ),
    (
        "SpecProblem::MissingSection",
        "function without a model",
        "estimate.process = { observed = \"average\", lengthscales = [1.0] }",
        "estimate.function = {}",
    ),
    (
        "SpecProblem::UnknownDataset",
        "no such trips",
        "source.inline = { x = [0.5, 1.5, 2.5], n = [1.0, 2.0, 3.0] }",
        "source.trips = { dataset = \"bikes\", journeys = \"trips.csv\" }",
    ),
    (
        "SpecProblem::Shape",
        "missing file of trips",
        "source.inline = { x = [0.5, 1.5, 2.5], n = [1.0, 2.0, 3.0] }",
        "source.trips = { dataset = \"citibike-301\", journeys = \"trips.csv\" }",
    ),
];

/// Runs a spec with each mistake; gives what was said, and the messages in one text.
fn provoke(sound: &str, mistakes: &[Mistake], arguments: &[&str]) -> (Vec<(&'static str, Run)>, String) {
    let (mut runs, mut transcript) = (Vec::new(), String::new());
    for (variant, name, from, to) in mistakes {
        assert_eq!(sound.matches(from).count(), 1, "{name}: {from:?} must stand once in the spec");
        let project = project(&sound.replace(from, to));
        let run = project.dpgp_without_mirror(&[&["run", "study.toml"], arguments].concat()).expect(2);
        project.assert_nothing_left();
        assert!(run.err.starts_with("error: study.toml:"), "{name}: {}", run.err);
        transcript.push_str(&format!("# {name} ({variant})\n{}\n", run.redacted(&project, "")));
        runs.push((*variant, run));
    }
    (runs, transcript)
}

/// A spec that computes an erratum; its words are missing.
const ERRATUM: &str = r#"experiment.title = "an erratum"

[data]
source.inline = { x = [0.0], y = [0.0] }
inputs = ["x"]
target = "y"

[task.errata]
erratum = "row-norm"

[privacy]
epsilon = inf
delta = 0.01
change = 1.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
"#;

/// Words about an erratum of which no cell is.
const WORDS: &str = r#"
[[erratum]]
name = "row-nrm"
paper = "smith2016"
kind = "error"
place = "Section 2"
quote = "q"
statement = "s"
example = "e"
correction = "c"
effect = "f"
"#;

/// An erratum without words, words without their erratum, and words against a paper without its own.
fn errata_and_words() -> Vec<(&'static str, Run)> {
    let cases = [
        ("SpecProblem::ErratumWithoutWords", ERRATUM.to_owned(), "task.errata.erratum: no [[erratum]]"),
        ("SpecProblem::ErratumOfNoCell", format!("{ERRATUM}{WORDS}"), "no cell computes the erratum \"row-nrm\""),
        (
            "SpecProblem::ErratumWithoutQuote",
            format!("{ERRATUM}{WORDS}").replace("quote = \"q\"\n", "").replace("row-nrm", "row-norm"),
            "erratum.0.quote: the erratum \"row-norm\" must quote the paper",
        ),
    ];
    let mut runs = Vec::new();
    for (variant, spec, words) in cases {
        let project = project(&spec);
        let run = project.dpgp(&["run", "study.toml"]).expect(2);
        project.assert_nothing_left();
        assert!(run.err.contains(words), "{}", run.err);
        runs.push((variant, run));
    }
    runs
}

/// A grid of more cells than are expanded.
fn too_many_cells() -> Run {
    let values = (1..=2000).map(|i| format!("{i}.0")).collect::<Vec<_>>().join(", ");
    let grid = format!("\"privacy.epsilon\" = [{values}]\n\"privacy.change\" = [{values}]");
    let project = project(&SOUND.replace("\"privacy.epsilon\" = [1.0, inf]", &grid));
    let run = project.dpgp(&["run", "study.toml"]).expect(2);
    project.assert_nothing_left();
    run
}

/// More rows than any machine has memory for the covariances of: a million, and the grid twice less the tail. They are not even
/// generated.
fn too_much_memory() -> Run {
    let project = project(
        r#"experiment.title = "large"
data = { source.synthetic.sinc = { points = 1000000, noise = 0.1, grid = 10 }, inputs = ["x"], target = "y" }
normalise.bounds = { low = -1.0, high = 1.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.regression = { split.tail = 10, draws = 1 }
privacy = { epsilon = 1.0, delta = 0.01, change = 2.0, mechanism.cloaking.objective = "risk" }
"#,
    );
    let run = project.dpgp(&["run", "study.toml"]).expect(2);
    project.assert_nothing_left();
    assert!(run.err.contains("study.toml:4:") && run.err.contains(" model: 1000010 rows and 10 points"), "{}", run.err);
    run
}

/// Mistakes in changes of a sound spec.
fn wrong_changes() -> Vec<(&'static str, Run)> {
    let project = project(SOUND);
    let cases = [("SpecProblem::UnknownSetting", "epsilom=2"), ("SpecProblem::Changed", "epsilon=0,5")];
    let mut runs = Vec::new();
    for (variant, change) in cases {
        runs.push((variant, project.dpgp(&["run", "study.toml", "--set", change]).expect(2)));
    }
    project.assert_nothing_left();
    runs
}

/// Noise in an ellipsoid for a posterior that knows spherical noise alone.
fn noise_of_another_posterior() -> Run {
    let project = project(
        r#"experiment.title = "shaped"
data = { source.synthetic.sinc = { points = 40, noise = 0.1, grid = 9 }, inputs = ["x"], target = "y" }
model = { noise_variance = 0.01, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }

[task.calibration]
train = 40
inducing = [{ from = -3.0, to = 3.0, points = 4 }]
posterior.noise-aware = { regularisation = "tight", correction = "first-order" }

[privacy]
epsilon = 1.0
delta = 1e-4
mechanism.sums = { target_bound = 1.3, features = "line", sensitivity = "exact", noise = "ellipsoid" }
"#,
    );
    let run = project.dpgp(&["run", "study.toml"]).expect(2);
    project.assert_nothing_left();
    assert!(run.err.contains("privacy.mechanism.sums.noise: only simulations support this"), "{}", run.err);
    run
}

#[test]
fn the_sound_spec_runs() {
    let heights = project(SOUND);
    let run = heights.dpgp(&["run", "study.toml"]).expect(0);
    assert!(run.out.contains("rmse"), "{}", run.out);
    assert!(heights.read("results/study/table.csv").lines().count() == 1 + 2 * 2);
    project(SELECTION).dpgp(&["run", "study.toml"]).expect(0);
    project(POSTERIOR).dpgp(&["run", "study.toml"]).expect(0);
    project(SELECTION).dpgp(&["run", "study.toml", "--quick"]).expect(0);
    let every_label_adds_a_key =
        SELECTION.replace("change = 1.0\n", "").replace("full = {}", "full = { \"privacy.change\" = 1.0 }");
    project(&every_label_adds_a_key).dpgp(&["run", "study.toml"]).expect(0);
}

#[test]
fn every_mistake_is_explained() {
    let (mut runs, transcript) = provoke(SOUND, MISTAKES, &[]);
    insta::assert_snapshot!("mistakes", transcript);
    let (others, transcript) = provoke(SELECTION, OTHER_MISTAKES, &[]);
    insta::assert_snapshot!("other_mistakes", transcript);
    let (quick, transcript) = provoke(SELECTION, QUICK_MISTAKES, &["--quick"]);
    insta::assert_snapshot!("quick_mistakes", transcript);
    project(DENSITY).dpgp(&["run", "study.toml"]).expect(0);
    let (density, transcript) = provoke(DENSITY, DENSITY_MISTAKES, &[]);
    insta::assert_snapshot!("density_mistakes", transcript);
    let (posterior, transcript) = provoke(POSTERIOR, POSTERIOR_MISTAKES, &[]);
    insta::assert_snapshot!("posterior_mistakes", transcript);
    let large = too_many_cells();
    insta::assert_snapshot!("too_many_cells", large.err);
    runs.extend(
        others
            .into_iter()
            .chain(density)
            .chain(quick)
            .chain(posterior)
            .chain(errata_and_words())
            .chain(wrong_changes())
            .chain([("SpecProblem::TooManyCells", large), ("SpecProblem::Memory", too_much_memory())])
            .chain([("SpecProblem::OnlySites", noise_of_another_posterior())]),
    );
    assert_covered("crates/dpgp-spec/src/setting", &runs, &[]);
}

#[test]
fn bad_cells_name_their_line_and_column() {
    for (from, to, expected) in
        [("139.7", "tall", "not a number"), ("139.7", "", "height"), ("139.7", "inf", "not a finite number")]
    {
        let project = project(SOUND);
        project.write("heights.csv", &HEIGHTS.replace(from, to));
        let run = project.dpgp(&["run", "study.toml"]).expect(2);
        assert!(run.err.contains("line 3") && run.err.contains(expected), "{}", run.err);
        assert!(!run.err.contains("tall"), "{}", run.err);
        assert!(!project.path("results").exists());
    }
}

#[test]
fn names_that_mean_nothing() {
    let project = Project::new();
    let run = project.dpgp(&["run", "smith2021/tabel1"]).expect(2);
    assert!(run.err.contains("did you mean smith2021/table1?"), "{}", run.err);
    // The last part of a name is enough.
    let run = project.dpgp(&["best", "house"]).expect(2);
    assert!(run.err.contains("did you mean beyond/leaderboard/houses?"), "{}", run.err);
    project.write("rows.csv", "x,y\n1,2\n");
    let run = project.dpgp(&["run", "rows.csv"]).expect(2);
    assert!(run.err.contains("use `dpgp new --data rows.csv`"), "{}", run.err);
    assert!(project.dpgp(&["run", "absent.toml"]).expect(5).err.contains("there is no spec absent.toml"));
    project.write("study.toml", "");
    let run = project.dpgp(&["run", "study"]).expect(2);
    assert!(run.err.contains("did you mean the spec study.toml?"), "{}", run.err);
    let run = project.dpgp(&["predict", "stuby.toml", "--grid", "x=0..1:3"]).expect(5);
    assert!(run.err.contains("there is no spec stuby.toml (did you mean study.toml?)"), "{}", run.err);
    project.dpgp(&["run"]).expect(2);
    project.dpgp(&["run", "smith2021/toy", "--jobs", "0"]).expect(2);
}

#[test]
fn missing_data_offline_and_a_corrupt_cache() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["run", "smith2021/table1", "--offline"]).expect(3);
    assert!(run.err.contains("Howell1.csv"), "{}", run.err);
    project.put("cache/howell1/Howell1.csv", "x".repeat(12_205));
    let run = project.dpgp_without_mirror(&["run", "smith2021/table1", "--offline"]).expect(3);
    let expected = "768d2fb53d44490b35260903f58955548b26f587e7afaf4e00b2603715279bbd";
    assert!(run.err.contains(expected), "{}", run.err);
    assert_eq!(project.read("cache/howell1/Howell1.csv").len(), 12_205);
    assert!(!project.path("results").exists());
}

/// A spec that cannot be factorised: the polynomial has more monomials than points.
#[test]
fn a_numerical_failure_names_the_matrix() {
    let project = Project::new();
    let toy = std::fs::read_to_string(project.path("experiments/smith2021/toy.toml")).unwrap();
    let toy = toy.split("[figure_names]").next().unwrap().replace("polynomial = 0", "polynomial = 3");
    project.write(
        "toy.toml",
        &toy.replace("[figure.intervals]\nmetrics = [\"sse/polynomial-0\", ", "[figure.intervals]\nmetrics = ["),
    );
    let run = project.dpgp(&["run", "toy.toml"]).expect(4);
    assert!(run.err.contains("X'X (4 x 4)"), "{}", run.err);
    assert!(!project.path("results").exists());
}

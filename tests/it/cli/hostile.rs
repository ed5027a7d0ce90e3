//! Specs whose numbers are far outside those of any study: a result or an error at once, never a panic or an endless search.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::cli::{Project, Run};

/// How long any of these specs may take, in a build without optimisation on a busy machine.
const MOST: Duration = Duration::from_secs(20);

/// Sums over records in one dimension; the box of inputs is public.
const SURFACE: &str = r#"
experiment.title = "hostile"
[data]
source.inline = { x = [2, 4, 6, 8, 10, 12], y = [78, 96, 108, 120, 129, 140] }
inputs = ["x"]
target = "y"
[normalise.bounds]
low = 50.0
high = 200.0
scale = 75.0
[model]
noise_variance = 0.1
kernel.eq = { variance = 1.0, lengthscale = 3.0 }
[task.surface]
inducing = [{ from = 0.0, to = 12.0, points = 5 }]
posterior = { regularisation = "tight", correction = "first-order" }
[privacy]
epsilon = 1.0
delta = 1e-6
calibration = "analytic"
[privacy.mechanism.sums]
target_bound = 1.0
features = { supremum = [[0.0, 12.0]] }
sensitivity = "exact"
"#;

/// Sums of classes in two dimensions.
const DIRICHLET: &str = r#"
experiment.title = "hostile"
[data]
source.synthetic.moons = { points = 60, noise = 0.1 }
inputs = ["x1", "x2"]
target = "class"
[model]
kernel.eq = { variance = 10.0, lengthscale = 0.4 }
[task.dirichlet]
train = 30
classes = 2
alpha = 0.01
release = "class-sums"
inducing = [{ from = -1.2, to = 1.2, points = 3 }, { from = -1.2, to = 1.2, points = 3 }]
posterior = { regularisation = "tight", correction = "first-order" }
[privacy]
epsilon = 1.0
delta = 1e-5
calibration = "analytic"
[privacy.mechanism.sums]
sensitivity = "exact"
split = 0.01
features = { supremum = [[-1.2, 1.2], [-1.2, 1.2]] }
"#;

/// Sums whose bound is that of the paper, on a line.
const CALIBRATION: &str = r#"
experiment.title = "hostile"
[data]
source.synthetic.sinc = { points = 64, noise = 0.1, grid = 21 }
inputs = ["x"]
target = "y"
[model]
noise_variance = 0.01
kernel.eq = { variance = 1.0, lengthscale = 1.0 }
[task.calibration]
train = 64
curve = true
inducing = [{ from = -3.0, to = 3.0, points = 5 }]
posterior.noise-aware = { correction = "printed", regularisation.printed.rho = 0.01 }
[privacy]
epsilon = 1.0
delta = 1e-4
calibration = "analytic"
mechanism.sums = { target_bound = 1.3, features = "printed-line", sensitivity = "published" }
"#;

/// A classifier with a linear kernel, whose latent variance grows with the square of the input.
const CLASSIFICATION: &str = r#"
experiment.title = "hostile"
[data]
source.synthetic.moons = { points = 60, noise = 0.1 }
inputs = ["x1", "x2"]
target = "class"
[model]
kernel.linear = { variance = 1.0 }
[task.classification]
train = 30
draws = 3
at = [[0.0, 0.0], [1.0, 2.0]]
positive = { is = "==", value = 1.0 }
[privacy]
epsilon = 1.0
delta = 0.01
change = 2.0
calibration = "classic"
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
"#;

/// Runs a spec with a replacement, which must occur; it must end.
fn run(spec: &str, from: &str, to: &str) -> (Project, Run) {
    assert!(spec.contains(from), "{from}");
    let project = Project::with_study(&spec.replacen(from, to, 1));
    let output = within(&project, &["run", "study.toml", "--quiet"]);
    (project, Run::new(output))
}

fn within(project: &Project, arguments: &[&str]) -> Output {
    let mut command = project.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > MOST {
            child.kill().unwrap();
            panic!("{arguments:?} goes on after {MOST:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// The search for the supremum of the covariances costs no more where the box or the inducing inputs are long in lengthscales.
#[test]
fn long_boxes_end() {
    for (spec, from, to) in [
        (SURFACE, "[[0.0, 12.0]]", "[[0.0, 1e7]]"),
        (SURFACE, "[[0.0, 12.0]]", "[[0.0, 1e150]]"),
        (SURFACE, "[[0.0, 12.0]]", "[[-1.7e308, 1.7e308]]"),
        (DIRICHLET, "[[-1.2, 1.2],", "[[-1.2, 1e10],"),
        (DIRICHLET, "lengthscale = 0.4", "lengthscale = 1e-6"),
        (DIRICHLET, "lengthscale = 0.4", "lengthscale = 1e-30"),
        (CALIBRATION, "from = -3.0", "from = -1e6"),
        (CALIBRATION, "lengthscale = 1.0", "lengthscale = 1e-300"),
    ] {
        let (project, run) = run(spec, from, to);
        run.expect(0);
        assert!(project.path("results/study/table.csv").exists(), "{to}");
    }
    let (project, run) = run(CALIBRATION, "from = -3.0", "from = -1e308");
    assert!(run.expect(4).err.contains("not a finite number"));
    assert!(!project.path("results").exists());
}

/// Probabilities are averaged over a latent Gaussian of any width.
#[test]
fn wide_latent_gaussians_end() {
    for (from, to) in
        [("[1.0, 2.0]", "[1.0, 1e30]"), ("[1.0, 2.0]", "[1.0, 1e150]"), ("variance = 1.0", "variance = 1e24")]
    {
        run(CLASSIFICATION, from, to).1.expect(0);
    }
}

/// The one name of the inputs of images stands for all pixels, which a grid must have an axis for.
#[test]
fn grids_have_an_axis_for_each_pixel() {
    let images = "source.images = { dataset = \"mnist\", images = \"mnist/train-images-idx3-ubyte.gz\", labels = \
        \"mnist/train-labels-idx1-ubyte.gz\", side = 2 }";
    let grid = format!(
        "experiment.title = \"pixels\"\n[data]\n{images}\ninputs = [\"pixels\"]\ntarget = \"digit\"\n\
         [normalise.bounds]\nlow = 0.0\nhigh = 9.0\n[model]\nnoise_variance = 25.0\n\
         kernel.eq = {{ variance = 900.0, lengthscale = 15.0 }}\n\
         [task.prediction]\ngrid = [{{ from = 0.0, to = 80.0, points = 11 }}]\n\
         [privacy]\nepsilon = 1.0\ndelta = 0.01\nchange = 9.0\n\
         mechanism.cloaking = {{ objective = \"trace\", rank_tolerance = 1e-8 }}\n"
    );
    let (project, run) = run(&grid, "side = 2", "side = 2");
    let run = run.expect(2);
    assert!(run.err.contains("task.prediction.grid: needs one value for each input (4), found 1"), "{}", run.err);
    project.assert_nothing_left();
    let points = grid.replace(
        "[task.prediction]\ngrid = [{ from = 0.0, to = 80.0, points = 11 }]",
        "[task.classification]\ntrain = 20\ndraws = 1\nat = [[0.0]]\npositive = { is = \"==\", value = 1.0 }",
    );
    let run = self::run(&points, "side = 2", "side = 3").1.expect(2);
    assert!(run.err.contains("task.classification.at.0: needs one value for each input (9), found 1"), "{}", run.err);
}

/// A budget whose epsilon is near the greatest number, so that what is left of it is beyond.
#[test]
fn budgets_without_end_are_told() {
    let project = Project::empty();
    project.put("rows.csv", "x,y\n1,2\n2,3\n3,5\n4,6\n5,4\n6,3\n");
    project.put("grid.csv", "x\n1\n2\n");
    let spec = "experiment.title = \"budget\"\n[data]\nsource.csv.path = \"rows.csv\"\ninputs = [\"x\"]\ntarget = \"y\"\n\
        [normalise.bounds]\nlow = 0.0\nhigh = 10.0\n[model]\nnoise_variance = 0.1\n\
        kernel.eq = { variance = 1.0, lengthscale = 2.0 }\n[task.regression]\nsplit.shuffled = 3\ndraws = 5\n\
        [privacy]\nepsilon = 1.0\ndelta = 0.01\nchange = 10.0\ncalibration = \"analytic\"\n\
        mechanism.cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }\n";
    project.put("study.toml", spec);
    let budget = ["--budget-epsilon", "1e308", "--budget-delta", "0.5"];
    let predict = [&["predict", "study.toml", "--at", "grid.csv", "--out", "p.csv"][..], &budget[..]].concat();
    let run = Run::new(within(&project, &predict)).expect(0);
    assert!(run.out.contains("epsilon = inf") || run.err.contains("epsilon = inf"), "{}{}", run.out, run.err);
    Run::new(within(&project, &["ledger", "show", "study.toml"])).expect(0);
}

/// What is read as a whole has a most of bytes, so that a device without an end fills no memory.
#[test]
fn endless_texts_are_refused() {
    let project = Project::with_study(SURFACE);
    project.put("grid.csv", "x\n1\n");
    for arguments in [
        &["verify", "/dev/zero"][..],
        &["stats", "study.toml", "--add", "/dev/zero", "--out", "sums.json"],
        &["predict", "--from", "/dev/zero", "--at", "grid.csv"],
        &["map", "/dev/zero", "--out", "map.svg"],
    ] {
        let run = Run::new(within(&project, arguments)).expect(5);
        assert!(run.err.contains("/dev/zero: is larger than 256 MB"), "{}", run.err);
        assert!(!project.path("sums.json").exists());
    }
}

const LARGE: &str = r#"
experiment.title = "large"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 1.0, kernel.eq = { variance = 9.0, lengthscale = 3.0 } }
task.regression = { split.shuffled = 5, draws = 10 }
privacy = { epsilon = 1.0, delta = 1e-6, change = 10.0, calibration = "analytic", mechanism.cloaking.objective = "risk" }
"#;

/// Covariances of 200,000 rows are 300 GiB, and their factor as many: that is said before they are begun, and before a charge.
#[test]
fn matrices_beyond_the_memory_are_refused() {
    let project = Project::with_study(LARGE);
    let rows: String = (0..200_000).map(|i| format!("{}.{},{}\n", i % 100, i % 977, i % 11)).collect();
    project.write("rows.csv", &format!("x,y\n{rows}"));
    project.write("grid.csv", "x\n5\n50\n");
    let predict = ["predict", "study.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"];
    for (arguments, message) in [
        (&["run", "study.toml", "--quiet"][..], "model: 160000 rows and 40000 points need about 572.2 GiB of memory"),
        (&predict, "model: 200000 rows and 2 points need about 596.0 GiB of memory"),
        (&["audit", "study.toml"], "model: 160000 rows and 40000 points need about 572.2 GiB of memory"),
    ] {
        let run = Run::new(within(&project, arguments)).expect(2);
        assert!(run.err.contains(message), "{arguments:?}: {}", run.err);
        assert!(run.err.contains("model.sparse.fitc.inducing.kmeans"), "{}", run.err);
        project.assert_nothing_left();
    }
    assert!(!project.path("p.csv").exists());
    let ledgers = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
    assert_eq!(ledgers.as_array().map(Vec::len), Some(0));
}

/// Small gzip files that unpack to lines without a row, and to a row without an end.
#[test]
fn blank_lines_without_end_are_refused() {
    let project = Project::with_study(&SURFACE.replace("source.inline", "source.csv.path = \"rows.csv.gz\"\n#"));
    for byte in [b' ', b'1'] {
        let line = vec![byte; 1 << 20];
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        for _ in 0..66 {
            std::io::Write::write_all(&mut encoder, &line).unwrap();
            if byte == b' ' {
                std::io::Write::write_all(&mut encoder, b"\n").unwrap();
            }
        }
        project.put("rows.csv.gz", encoder.finish().unwrap());
        for arguments in [&["run", "study.toml"][..], &["stats", "study.toml", "rows.csv.gz", "--out", "o.json"]] {
            let run = Run::new(within(&project, arguments)).expect(2);
            assert!(run.err.contains("rows.csv.gz: line ") && run.err.contains("more than 64 MB"), "{}", run.err);
        }
        project.assert_nothing_left();
    }
}

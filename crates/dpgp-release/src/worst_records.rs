//! The extreme records with which an attack replaces another, chosen by hand for each kind of sums.

use super::StreamedRelease;
use super::sums_model::SumsModel;
use dpgp_data::DatasetManifest;
use dpgp_task::Experiment;

const MOMENTS: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x", "z"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq-ard = { variance = 0.3, lengthscales = [1.5, 30.0] } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 4 }], at = [50.0] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0], [-10.0, 90.0]] } }
"#;

const SURFACE: &str = r#"experiment.title = "sums"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.surface = { inducing = [{ from = 0.0, to = 4.0, points = 4 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 4.0]] }, sensitivity = "exact", split = 0.3 } }
"#;

const CLASSES: &str = r#"experiment.title = "classes"
data = { source.csv.path = "rows.csv", inputs = ["x", "z"], target = "class" }
model.kernel.eq = { variance = 1.0, lengthscale = 0.7 }
task.dirichlet = { train = 50, classes = 3, inducing = [{ from = -1.0, to = 1.0, points = 3 }, { from = -1.0, to = 1.0, points = 3 }], alpha = 0.01, posterior = { regularisation = "tight", correction = "first-order" }, release = "class-sums" }
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.sums = { features = { supremum = [[-1.0, 1.0], [-1.0, 1.0]] }, sensitivity = "exact", split = 0.3 } }
"#;

const COUNTS: &str = r#"experiment.title = "bins"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "n" }
task.density = { bins = [{ from = 0.0, to = 4.0, bins = 4 }], test = [{ from = 0.0, to = 4.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram = { relation = "add-remove", most_per_row = 2 } }
"#;

fn experiment(spec: &str) -> Experiment {
    Experiment::parse("s", "s.toml".as_ref(), spec.to_owned(), &DatasetManifest::load_shipped().unwrap()).unwrap()
}

/// What stands in the place of a record in the sums of a spec.
fn replaced(spec: &str, record: &[f64]) -> Vec<Vec<f64>> {
    match StreamedRelease::from_experiment(&experiment(spec)).unwrap() {
        StreamedRelease::Surface(streamed) => streamed.model().extreme_replacements(record),
        StreamedRelease::Moments(streamed) => streamed.model().extreme_replacements(record),
        StreamedRelease::Classes(streamed) => streamed.model().extreme_replacements(record),
        StreamedRelease::Counts(streamed) => streamed.model().extreme_replacements(record),
    }
}

/// Both extreme targets, at the same place and a quarter, a half and a whole box away: 4 wide and 100 wide.
#[test]
fn moments_move_by_parts_of_the_box() {
    let mut expected = Vec::new();
    for (x, z) in [(1.0, 20.0), (2.0, 45.0), (3.0, 70.0), (5.0, 120.0)] {
        expected.extend([-f64::MAX, f64::MAX].map(|target| vec![x, z, target]));
    }
    assert_eq!(replaced(MOMENTS, &[1.0, 20.0, 3.0]), expected);
}

/// Both extreme targets, at the same place, far away and where nothing correlates.
#[test]
fn sums_of_a_surface_move_far_away() {
    let mut expected = Vec::new();
    for x in [2.0, 1002.0, 1e300] {
        expected.extend([-f64::MAX, f64::MAX].map(|target| vec![x, target]));
    }
    assert_eq!(replaced(SURFACE, &[2.0, 5.0]), expected);
}

/// Every class, at the same place and where nothing correlates.
#[test]
fn sums_of_classes_change_the_class() {
    let mut expected = Vec::new();
    for (x, z) in [(0.5, -0.5), (1e300, 1e300)] {
        expected.extend([0.0, 1.0, 2.0].map(|class| vec![x, z, class]));
    }
    assert_eq!(replaced(CLASSES, &[0.5, -0.5, 1.0]), expected);
}

/// A row that stands for several records holds none or as many as a number can say; where one of its records is protected, it holds
/// one more, and no row is protected whole.
#[test]
fn counts_hold_no_record_or_many_or_one_more() {
    assert_eq!(replaced(COUNTS, &[1.5, 2.0]), [[1.5, 0.0], [1.5, f64::from(u32::MAX)]]);
    let single = COUNTS.replace(", most_per_row = 2", "");
    assert_eq!(replaced(&single, &[1.5, 2.0]), [[1.5, 3.0]]);
    // A row that is one record moves out of all bins, and to the first and the last where one record takes the place of another.
    let rows = single.replace(", target = \"n\"", "");
    assert_eq!(replaced(&rows, &[1.5, 1.5]), [[8.0, 8.0]]);
    let moved = rows.replace("add-remove", "replace-one");
    assert_eq!(replaced(&moved, &[1.5, 1.5]), [[8.0, 8.0], [0.0, 0.0], [3.5, 3.5]]);
    for (spec, protects) in [(COUNTS, true), (&single, false), (&rows, true)] {
        let spec = experiment(spec);
        let StreamedRelease::Counts(streamed) = StreamedRelease::from_experiment(&spec).unwrap() else {
            panic!("these are counts");
        };
        assert_eq!(streamed.model().protects_rows(), protects);
    }
}

//! What the text of Smith et al. 2016 lets one check without data, and the specs that wait for data.

use dpgp::data::DatasetManifest;
use dpgp::privacy::Calibration;
use dpgp::setting::SourceSetting;
use dpgp::spec::ReferenceValueOwner;
use dpgp::task::Experiment;

use crate::support::shipped::root;

fn read(path: &str) -> Experiment {
    let path = root().join(path);
    let text = std::fs::read_to_string(&path).unwrap();
    Experiment::parse("test", &path, text, &DatasetManifest::load_shipped().unwrap()).unwrap()
}

fn noise(epsilon: f64) -> f64 {
    Calibration::Classic.sigma(epsilon, 0.01)
}

/// Table 1: the private values of a column with noise on the output follow from its value without privacy and one
/// sensitivity, `sqrt(RMSE_inf^2 + (c(0.01) s / epsilon)^2)`, within 1 %; the sensitivity is that of the grids within 2 %.
#[test]
fn the_output_columns_of_table_one_are_one_number_each() {
    let experiment = read("experiments/smith2016/table1.toml");
    for (method, of_the_grids) in [("gp", 22.62), ("iv-gp", 1.633)] {
        let cells = experiment
            .counterparts
            .iter()
            .filter(|p| p.owner == ReferenceValueOwner::Paper && p.metric == "rmse")
            .filter_map(|p| {
                let cell = &experiment.cells[p.cell];
                (cell.labels()[1] == method).then_some((cell.setting().privacy.epsilon.get(), p.value))
            });
        let cells: Vec<(f64, f64)> = cells.collect();
        let plain = cells.iter().find(|(epsilon, _)| epsilon.is_infinite()).unwrap().1;
        let finite: Vec<(f64, f64)> = cells.iter().copied().filter(|(e, _)| e.is_finite()).collect();
        assert_eq!(finite.len(), 4);
        let (epsilon, value) = finite[0];
        let sensitivity = (value * value - plain * plain).sqrt() / noise(epsilon);
        assert!((sensitivity / of_the_grids - 1.0).abs() < 0.02, "{method}: {sensitivity}");
        for (epsilon, value) in finite {
            let expected = plain.hypot(sensitivity * noise(epsilon));
            assert!((expected / value - 1.0).abs() < 0.01, "{method} at {epsilon}: {expected} {value}");
        }
    }
}

/// The tables on the data of the papers are the shipped ones but for the rows.
#[test]
fn the_specs_that_wait_for_june_2016_are_those_shipped() {
    let pairs = [
        ("data/june-2016/table1.toml", "experiments/smith2016/table1.toml"),
        ("data/june-2016/citibike4d.toml", "experiments/lawrence2017/citibike4d.toml"),
    ];
    for (waiting, shipped) in pairs {
        let (waiting, shipped) = (read(waiting), read(shipped));
        assert_eq!(waiting.cells.len(), shipped.cells.len());
        for (ours, theirs) in waiting.cells.iter().zip(&shipped.cells) {
            assert_eq!(ours.labels(), theirs.labels());
            let (ours, theirs) = (ours.setting(), theirs.setting());
            assert_eq!((&ours.task, &ours.privacy, &ours.model), (&theirs.task, &theirs.privacy, &theirs.model));
            assert_eq!(ours.normalise, theirs.normalise);
            let SourceSetting::Trips(trips) = &ours.data.source else { panic!("trips") };
            assert_eq!(trips.dataset, "citibike-201606");
        }
        assert!(waiting.deviations.iter().all(|d| d.kind != dpgp::spec::DeviationKind::StandIn));
        assert!(shipped.deviations.iter().any(|d| d.kind == dpgp::spec::DeviationKind::StandIn));
    }
}

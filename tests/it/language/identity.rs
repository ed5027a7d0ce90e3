//! Cells, blocks and identities of a spec.

use std::collections::BTreeSet;
use std::path::Path;

use dpgp::data::DatasetManifest;
use dpgp::publish::CommittedResults;
use dpgp::spec::{SpecCatalogue, SpecError, TextDigest};
use dpgp::task::Experiment;

use crate::support::shipped::root;

const BASE: &str = r#"
[experiment]
title = "t"
[data]
source.inline = { x = [0.0, 1.0, 2.0, 3.0], y = [0.0, 0.5, 1.0, 2.0] }
inputs = ["x"]
target = "y"
[model]
noise_variance = 1.0
kernel.eq = { variance = 1.0, lengthscale = 2.0 }
[task.regression]
split.contiguous = 2
draws = 3
[privacy]
epsilon = 1.0
delta = 0.01
change = 2.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
"#;

fn parse(text: &str) -> Result<Experiment, SpecError> {
    Experiment::parse("test", Path::new("test.toml"), text.to_owned(), &DatasetManifest::load_shipped().unwrap())
}

fn id(text: &str) -> TextDigest {
    parse(text).unwrap().cells[0].id()
}

#[test]
fn a_spec_without_a_grid_is_one_cell() {
    let experiment = parse(BASE).unwrap();
    assert_eq!((experiment.cells.len(), experiment.blocks.len(), experiment.axes.len()), (1, 1, 0));
}

#[test]
fn the_identity_ignores_spelling_order_and_defaults() {
    let plain = id(BASE);
    for (from, to) in [
        ("epsilon = 1.0", "epsilon = 1"),
        ("rank_tolerance = 1e-8", "rank_tolerance = 0.00000001"),
        ("delta = 0.01\nchange = 2.0", "change = 2\ndelta = 1e-2"),
        ("change = 2.0", "change = 2.0\ncalibration = \"analytic\""),
        ("rank_tolerance = 1e-8", "rank_tolerance = 1e-8, release = \"projection\", solver = \"interior-point\""),
        ("title = \"t\"", "title = \"other\"\nseed = 7"),
    ] {
        assert_eq!(BASE.matches(from).count(), 1, "{from}");
        assert_eq!(id(&BASE.replace(from, to)), plain, "{to}");
    }
    for (from, to) in [("epsilon = 1.0", "epsilon = 1.5"), ("x = [0.0", "x = [0.1"), ("draws = 3", "draws = 4")] {
        assert_ne!(id(&BASE.replace(from, to)), plain, "{to}");
    }
}

/// A value given by the grid is the same cell as one given in its section.
#[test]
fn a_grid_value_and_a_section_value_are_the_same_cell() {
    let gridded = parse(&format!("{BASE}[grid]\n\"privacy.epsilon\" = [2.0, 1.0]\n")).unwrap();
    assert_eq!(gridded.cells[1].id(), id(BASE));
}

#[test]
fn what_only_rescales_the_noise_shares_a_block() {
    let grid = "[grid]\n\"privacy.epsilon\" = [0.5, 1.0, inf]\n\"model.kernel.eq.lengthscale\" = [1.0, 2.0]\n\
                \"privacy.calibration\" = [\"classic\", \"analytic\"]\n\"privacy.delta\" = [0.01, 0.001]\n";
    let experiment = parse(&format!("{BASE}{grid}")).unwrap();
    assert_eq!((experiment.cells.len(), experiment.blocks.len()), (24, 2));
    assert!(experiment.blocks.iter().all(|block| block.cells.len() == 12));
    let data: Vec<TextDigest> = experiment.cells.iter().map(|cell| cell.data_id()).collect();
    assert!(data.iter().all(|id| *id == data[0]));
}

#[test]
fn the_last_axis_varies_fastest_and_names_stay_apart() {
    let grid = "[grid]\n\"privacy.epsilon\" = [1.0, 2.0]\n[axis.size]\nsmall = { \"model.kernel.eq.variance\" = 1.0 }\n\
                large = { \"model.kernel.eq.variance\" = 9.0, \"model.noise_variance\" = 4.0 }\n";
    let experiment = parse(&format!("{BASE}{grid}")).unwrap();
    let labels: Vec<String> = experiment.cells.iter().map(|cell| cell.labels().join(" ")).collect();
    assert_eq!(labels, ["1 small", "1 large", "2 small", "2 large"]);
    let clash = BASE.replace(
        "[task.regression]",
        "[task.selection]\nepsilon = 1.0\nsensitivity = \"published\"\ncandidates = [{ polynomial = 0 }]",
    );
    let clash = clash.replace("draws = 3", "");
    let grid = "[grid]\n\"privacy.epsilon\" = [1.0]\n\"task.selection.epsilon\" = [1.0]\n";
    let names: Vec<String> = parse(&format!("{clash}{grid}")).unwrap().axes.into_iter().map(|a| a.name).collect();
    assert_eq!(names, ["privacy.epsilon", "selection.epsilon"]);
}

#[test]
fn a_grid_that_is_too_large_is_refused_at_once() {
    let values: Vec<String> = (1..=2000).map(|i| format!("{i}.0")).collect();
    let values = values.join(", ");
    let grid = format!("[grid]\n\"privacy.epsilon\" = [{values}]\n\"privacy.change\" = [{values}]\n");
    let error = parse(&format!("{BASE}{grid}")).unwrap_err().to_string();
    assert!(error.contains("4000000 cells"), "{error}");
}

/// The identities in the committed tables, which know nothing of defaults, are those of the cells of the shipped specs.
#[test]
fn committed_results_are_of_the_shipped_cells() {
    let manifest = DatasetManifest::load_shipped().unwrap();
    let catalogue = SpecCatalogue::read(&root().join("experiments")).unwrap();
    assert!(catalogue.specs().len() >= 3);
    let mut tables = 0;
    for spec in catalogue.specs() {
        let text = std::fs::read_to_string(&spec.path).unwrap();
        let full = Experiment::parse(&spec.name, &spec.path, text, &manifest).unwrap();
        let reduced = full.clone().with_quick_settings(&manifest).unwrap();
        for experiment in [full, reduced] {
            let folder = root().join("results").join(experiment.relative_results_folder());
            let Some(committed) = CommittedResults::read(&folder).unwrap() else { continue };
            let known: BTreeSet<String> = experiment.cells.iter().map(|cell| cell.id().short()).collect();
            let found = committed.rows.iter().map(|row| committed.field(row, "cell").to_owned());
            assert_eq!(found.collect::<BTreeSet<_>>(), known, "{}", folder.display());
            tables += 1;
        }
    }
    assert!(tables >= catalogue.specs().len(), "{tables} tables");
}

fn with_figure(figure: &str) -> Result<Experiment, SpecError> {
    parse(&format!("{BASE}[axis.method]\na = {{}}\n{figure}"))
}

/// Each is a figure, and the key and the message of its mistake.
#[test]
fn figures_name_axes_and_families_that_there_are() {
    let curves = "[figure.curves]\nx_label = \"x\"\nlabel = \"y\"\n";
    let map = "[figure.map]\nx_label = \"x\"\ny_label = \"y\"\nlabel = \"z\"\nstep = 1.0\nvanish = 2.0\n";
    let tiles = "[figure.tiles]\nx = \"method\"\nmetric = \"rmse\"\nx_label = \"x\"\ny_label = \"y\"\nlabel = \"z\"\n";
    let lines = "[grid]\n\"privacy.epsilon\" = [1.0, 2.0]\n[figure.lines]\nmetric = \"rmse\"\nx = \"epsilon\"\n\
                 lines = \"method\"\nx_label = \"x\"\nlabel = \"y\"\n";
    let named = "[figure_names]\na = \"b\"\nepsilon = \"c\"\nrmse = \"d\"\n";
    let whole = format!("{lines}relative = \"a\"\ngroups = [{{ prefix = \"b\", title = \"t\" }}]\n{named}");
    for sound in [curves, map, &format!("{curves}panels = \"method\"\noverlay = \"method\"\ncolumns = 1\n"), &whole] {
        assert!(with_figure(sound).is_ok(), "{sound}");
    }
    for (figure, key, says) in [
        (format!("{curves}overlay = \"methods\""), "figure.curves.overlay", "there is no axis \"methods\""),
        (format!("{curves}panels = \"methods\""), "figure.curves.panels", "there is no axis \"methods\""),
        (format!("{curves}most = inf"), "figure.curves.most", "must be finite"),
        (format!("{curves}columns = 0"), "figure.curves.columns", "must be greater than 0"),
        (map.replace("step = 1.0", "step = 0.0"), "figure.map.step", "must be greater than 0"),
        (map.replace("vanish = 2.0", "vanish = nan"), "figure.map.vanish", "must be greater than 0"),
        (format!("{lines}relative = \"b\""), "figure.lines.relative", "no cell has method = b"),
        (
            format!("{lines}groups = [{{ prefix = \"b\", title = \"t\" }}]"),
            "figure.lines.groups",
            "no group has a prefix that \"a\" begins with",
        ),
        (format!("{lines}most = nan"), "figure.lines.most", "must be finite"),
        (
            format!("{lines}{}", named.replace("rmse", "rsme")),
            "figure_names.rsme",
            "no label, axis or metric of this name",
        ),
        (tiles.to_owned(), "figure.tiles.metric", "the task does not measure"),
        (tiles.replace("x = \"method\"", "x = \"metod\""), "figure.tiles.x", "there is no axis \"metod\""),
    ] {
        let error = with_figure(&figure).unwrap_err();
        assert_eq!(error.path, key);
        assert!(error.to_string().contains(says), "{error}");
    }
}

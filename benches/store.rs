//! What the store costs: planning a grid of 10,000 cells, appending their results, and reading them back.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::path::Path;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use dpgp::data::DatasetManifest;
use dpgp::privacy::Certificate;
use dpgp::run::store::{ResultMetadata, ResultStore, StoredResult};
use dpgp::run::{DataDigests, DataLocations, Project, RunPlan};
use dpgp::task::{Experiment, MetricMeasurement};

const SPEC: &str = r#"
[experiment]
title = "grid"
[data]
source.inline = { x = [0.0, 1.0], y = [0.0, 0.5] }
inputs = ["x"]
target = "y"
[model]
noise_variance = 1.0
kernel.eq = { variance = 1.0, lengthscale = 2.0 }
[task.regression]
split.contiguous = 2
draws = 1
[privacy]
epsilon = 1.0
delta = 0.01
change = 1.0
mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 }
[grid]
"#;

fn spec() -> String {
    let list = |n: usize, step: f64| (1..=n).map(|i| format!("{:?}", i as f64 * step)).collect::<Vec<_>>().join(", ");
    let lengthscales = list(100, 0.25);
    format!(
        "{SPEC}\"model.kernel.eq.lengthscale\" = [{lengthscales}]\n\"model.noise_variance\" = [{}]\n",
        list(100, 0.5)
    )
}

fn parse(text: &str, manifest: &DatasetManifest) -> Option<Experiment> {
    Experiment::parse("grid", Path::new("grid.toml"), text.to_owned(), manifest).ok()
}

fn record(plan: &RunPlan<'_>, cell: usize) -> StoredResult {
    let cell = &plan.experiment.cells[cell];
    let about = ResultMetadata {
        labels: cell.labels().to_vec(),
        replicate: 0,
        sections: cell.sections().map(|(name, text)| (name.to_owned(), text.id())).collect(),
        data: Vec::new(),
        seconds: 0.1,
        finished: 1,
    };
    let certificate = Certificate::none();
    let measured = vec![MetricMeasurement {
        metric: "rmse".to_owned(),
        values: vec![0.1, 0.2],
        certificate,
        jitter: 0.0,
        undefined: None,
    }];
    StoredResult { about, measured, frames: Vec::new() }
}

fn append(plan: &RunPlan<'_>, store: &mut ResultStore) {
    let session = store.begin_session(plan.header());
    for (number, cell) in plan.experiment.cells.iter().enumerate() {
        if let Some(key) = plan.key(number, 0) {
            assert!(session.append(key, cell, &record(plan, number)).is_ok());
        }
    }
    assert!(store.end_session(session).is_ok());
}

fn store(criterion: &mut Criterion) {
    let (Ok(manifest), Ok(folder)) = (DatasetManifest::load_shipped(), tempfile::tempdir()) else { return };
    let text = spec();
    criterion.bench_function("plan 10,000 cells", |b| b.iter(|| parse(&text, &manifest)));
    let Ok(project) = Project::open_at(folder.path().to_path_buf(), &DataLocations::default()) else {
        return;
    };
    let Some(experiment) = parse(&text, &manifest) else { return };
    let Ok(digests) = DataDigests::read_local(&experiment, &project) else { return };
    criterion.bench_function("append 10,000 results", |b| {
        b.iter_batched(
            tempfile::tempdir,
            |folder| {
                let Ok(folder) = folder else { return };
                let Ok(mut store) = ResultStore::open(folder.path()) else { return };
                append(&RunPlan::new(&experiment, 1, digests.clone(), &store), &mut store);
            },
            BatchSize::PerIteration,
        );
    });
    let Ok(mut filled) = ResultStore::open(folder.path()) else { return };
    append(&RunPlan::new(&experiment, 1, digests.clone(), &filled), &mut filled);
    criterion.bench_function("open a store of 10,000 results", |b| b.iter(|| ResultStore::open(folder.path())));
    criterion.bench_function("read 10,000 results", |b| {
        let plan = RunPlan::new(&experiment, 1, digests.clone(), &filled);
        b.iter(|| filled.results(&plan.stored_keys()));
    });
}

criterion_group! { name = benches; config = Criterion::default().sample_size(10); targets = store }
criterion_main!(benches);

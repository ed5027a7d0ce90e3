//! What accounting costs: epsilon of 1,000 and 10,000 sub-sampled steps, and the noise for a guarantee.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dpgp::number::Budget;
use dpgp::privacy::accounting::{
    Accountant, LossDistributionAccountant, NeighbourRelation, PrivacyEvent, RenyiAccountant, Sampling,
    SamplingSchedule, calibrate_noise_multiplier,
};

fn accounting(criterion: &mut Criterion) {
    let pld = LossDistributionAccountant::default();
    for (noise_multiplier, rate, steps, delta) in [(1.0, 0.01, 1000, 1e-5), (0.6, 0.001, 10_000, 1e-7)] {
        let event = PrivacyEvent { noise_multiplier, sampling: Sampling::Poisson { rate }, steps };
        for relation in [NeighbourRelation::AddRemove, NeighbourRelation::ReplaceOne] {
            criterion.bench_function(&format!("loss distribution/{steps} steps/{relation}"), |bencher| {
                bencher.iter(|| pld.epsilon(black_box(&event), relation, delta));
            });
        }
        criterion.bench_function(&format!("Rényi/{steps} steps"), |bencher| {
            bencher.iter(|| RenyiAccountant.epsilon(black_box(&event), NeighbourRelation::AddRemove, delta));
        });
    }
    let schedule = SamplingSchedule { sampling: Sampling::Poisson { rate: 0.02 }, steps: 1000 };
    let budget = Budget::new(1.0, 1e-3).unwrap();
    criterion.bench_function("noise for (1, 0.001)/1000 steps", |bencher| {
        bencher.iter(|| calibrate_noise_multiplier(&pld, black_box(schedule), NeighbourRelation::AddRemove, budget));
    });
}

criterion_group! { name = benches; config = Criterion::default().sample_size(10); targets = accounting }
criterion_main!(benches);

//! What exactly rounded noise costs: ten thousand draws at a scale of counts and at that of a quantised map.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dpgp::number::Positive;
use dpgp::privacy::RoundedGaussian;
use rand::SeedableRng;
use rand_pcg::Pcg64;

const DRAWS: usize = 10_000;

fn noise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rounded noise");
    group.throughput(Throughput::Elements(DRAWS as u64));
    let mut source = Pcg64::seed_from_u64(1);
    for (name, sd) in [("counts", 12.5), ("a map", 3.7 * 80f64.exp2())] {
        let noise = RoundedGaussian::new(Positive::new(sd).unwrap()).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(noise.add_noise(&[0; DRAWS], &mut source)));
        });
    }
}

criterion_group! { name = benches; config = Criterion::default().sample_size(20); targets = noise }
criterion_main!(benches);

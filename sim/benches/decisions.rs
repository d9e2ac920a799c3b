//! One decision of the scheduler in each situation, at a small and a large size.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sandpool_sim::{DecisionBench, Rig};
use std::hint::black_box;

/// Decisions that one measured iteration makes.
const DECISIONS: u64 = 1_000;

fn decisions(criterion: &mut Criterion) {
    for bench in DecisionBench::ALL {
        let mut group = criterion.benchmark_group(bench.name());
        group.throughput(criterion::Throughput::Elements(DECISIONS)).sample_size(20);
        for (sandboxes, conversations) in [(10, 1_000), (10_000, 100_000)] {
            let mut rig = Rig::new(bench, sandboxes, conversations);
            let id = BenchmarkId::new(sandboxes.to_string(), conversations);
            group.bench_function(id, |bencher| bencher.iter(|| black_box(&mut rig).run(DECISIONS)));
        }
        group.finish();
    }
}

criterion_group!(benches, decisions);
criterion_main!(benches);

//! Small specs on inline data.

/// Eight results: two lengthscales, two epsilons (one block each), two replicates.
pub const STUDY: &str = r#"
[experiment]
title = "small"
replicates = 2
[data]
source.inline = { x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], y = [1, 3, 2, 5, 4, 6, 5, 8, 9, 7, 9, 8] }
inputs = ["x"]
target = "y"
[model]
noise_variance = 1.0
kernel.eq = { variance = 9.0, lengthscale = 5.0 }
[task.regression]
split.shuffled = 3
draws = 5
[privacy]
epsilon = 1.0
delta = 0.01
change = 8.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
[grid]
"model.kernel.eq.lengthscale" = [5.0, 10.0]
"privacy.epsilon" = [1.0, inf]
"#;

/// 120 results in 60 blocks that take long enough to be interrupted.
pub const SLOW_STUDY: &str = r#"
[experiment]
title = "slow"
replicates = 30
[data]
source.inline = { x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29], y = [1, 3, 2, 5, 4, 6, 5, 8, 9, 7, 9, 8, 1, 3, 2, 5, 4, 6, 5, 8, 9, 7, 9, 8, 1, 3, 2, 5, 4, 6] }
inputs = ["x"]
target = "y"
[model]
noise_variance = 1.0
kernel.eq = { variance = 9.0, lengthscale = 3.0 }
[task.regression]
split.shuffled = 10
draws = 20000
[privacy]
epsilon = 1.0
delta = 0.01
change = 8.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
[grid]
"model.kernel.eq.lengthscale" = [3.0, 6.0]
"privacy.epsilon" = [1.0, 2.0]
"#;

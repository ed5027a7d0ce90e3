//! How far predictions from noisy sums err, and how well they know it.

mod measure;

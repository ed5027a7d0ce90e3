//! Sums over rows, and the law that all of them keep.

mod classes;
mod counts;
mod held;
mod rows;
mod targets;

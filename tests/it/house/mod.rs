//! The order of the rooms under `src`, and no large circles of files inside one.

mod circles;
mod floors;
mod graph;
mod source;

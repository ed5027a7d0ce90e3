//! The order of the rooms under `src`, no large circles of files inside one, and habits of style.

mod circles;
mod floors;
mod graph;
mod python;
mod single_places;
mod source;
mod style;

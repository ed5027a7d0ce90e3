//! Habits that no lint knows, counted.

use std::collections::BTreeMap;

use super::graph::Graph;
use crate::support::shipped::root;

/// The most closures with a name, and the most parameters that take a tuple apart, in all rooms together.
const NAMED_CLOSURES: usize = 115;
const TUPLE_PARAMETERS: usize = 10;

#[derive(Debug, Default)]
struct Habits {
    named_closures: usize,
    tuple_parameters: usize,
}

#[test]
fn closures_have_no_names_and_parameters_are_no_tuples() {
    let graph = Graph::read(&root().join("src"));
    let mut rooms: BTreeMap<&str, Habits> = BTreeMap::new();
    for (module, source) in graph.sources() {
        let room = rooms.entry(module.first().map_or("the root", String::as_str)).or_default();
        room.named_closures += source.named_closures;
        room.tuple_parameters += source.tuple_parameters;
    }
    let closures: usize = rooms.values().map(|room| room.named_closures).sum();
    let tuples: usize = rooms.values().map(|room| room.tuple_parameters).sum();
    assert!(closures <= NAMED_CLOSURES, "{closures} closures have names: write functions\n{rooms:#?}");
    assert!(tuples <= TUPLE_PARAMETERS, "{tuples} parameters are tuples: write structs\n{rooms:#?}");
}

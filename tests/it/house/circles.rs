//! No circle of files inside a room is longer than eight files.

use std::collections::BTreeMap;

use super::graph::{Circle, Graph, Module};
use super::source::Source;
use crate::support::shipped::root;

/// The most files that may use each other around a circle.
const LONGEST: usize = 8;

/// Rooms whose circle is still longer, with its length today; an entry goes when the circle is opened.
const STILL_LONGER: &[(&str, usize)] = &[];

fn rooms(graph: &Graph) -> Vec<String> {
    let mut rooms: Vec<String> = graph.modules().filter_map(|module| module.first().cloned()).collect();
    rooms.dedup();
    rooms
}

/// Each file of a circle with the files of the circle that it uses.
fn describe(graph: &Graph, circle: &Circle) -> String {
    let mut lines = String::new();
    for module in circle {
        let used = graph.used_by(module).into_iter().filter(|used| circle.contains(used));
        let used: Vec<String> = used.map(|used| used[1..].join("/")).collect();
        lines += &format!("    {} uses {}\n", module[1..].join("/"), used.join(", "));
    }
    lines
}

#[test]
fn no_circle_of_files_is_long() {
    let graph = Graph::read(&root().join("src"));
    let mut table = String::new();
    let mut too_long = false;
    for room in rooms(&graph) {
        let circle = graph.longest_circle(&room);
        let longest =
            STILL_LONGER.iter().find(|(name, _)| *name == room).map_or(LONGEST, |(_, length)| *length);
        too_long |= circle.len() > longest;
        table += &format!("{room}: {} files, at most {longest}\n{}", circle.len(), describe(&graph, &circle));
    }
    println!("{table}");
    assert!(!too_long, "the longest circle in each room:\n{table}");
}

fn module(parts: &[&str]) -> Module {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// A room of files, each of which uses the next; the last uses the first, through what the room exports.
fn made_up(length: usize) -> Graph {
    let mut files = BTreeMap::from([(module(&["room"]), Source::parse("mod f0; pub use f0::F0;"))]);
    for i in 0..length {
        let next = if i + 1 < length { format!("f{}::F{}", i + 1, i + 1) } else { "F0".to_owned() };
        let source = Source::parse(&format!("use super::{next}; struct F{i};"));
        files.insert(module(&["room", &format!("f{i}")]), source);
    }
    files.insert(module(&["room", "user"]), Source::parse("use crate::room::F0;"));
    Graph::new(files)
}

#[test]
fn a_circle_of_nine_is_found() {
    for length in [2, 8, 9] {
        let circle = made_up(length).longest_circle("room");
        assert_eq!(circle.len(), length, "{circle:?}");
        assert!(!circle.iter().any(|module| module[1] == "user"), "a user of a circle is not in it");
    }
    assert!(made_up(1).longest_circle("room").is_empty());
}

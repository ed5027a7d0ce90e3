//! A room imports only from rooms below it.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Graph;
use crate::support::shipped::root;

/// The rooms from the bottom; those of one floor do not know each other. A new room needs its name here.
const FLOORS: &[&[&str]] = &[
    &["number"],
    &["linalg", "data"],
    &["kernel", "advi"],
    &["gp"],
    &["privacy", "stream"],
    &["setting"],
    &["spec"],
    &["task"],
    &["audit"],
    &["run"],
    &["release"],
    &["publish"],
    &["cli"],
];

/// Each room with the rooms that it imports from.
type Rooms = BTreeMap<String, BTreeSet<String>>;

fn imports(graph: &Graph) -> Rooms {
    let mut rooms = Rooms::new();
    for module in graph.modules() {
        let Some(room) = module.first() else { continue };
        let used = graph.used_by(module).into_iter().filter_map(|used| used.first());
        let used = used.filter(|other| *other != room).cloned();
        rooms.entry(room.clone()).or_default().extend(used);
    }
    rooms
}

fn floor(room: &str) -> usize {
    let found = FLOORS.iter().position(|floor| floor.contains(&room));
    found.unwrap_or_else(|| panic!("src/{room} is on no floor: give it one in FLOORS"))
}

/// The imports that do not lead downward.
fn upward(rooms: &Rooms) -> Vec<String> {
    let mut found = Vec::new();
    for (room, used) in rooms {
        let wrong = used.iter().filter(|other| floor(other) >= floor(room));
        found.extend(wrong.map(|other| format!("{room} imports from {other}")));
    }
    found
}

#[test]
fn no_room_imports_upward() {
    let rooms = imports(&Graph::read(&root().join("src")));
    assert!(
        rooms["cli"].len() >= 5 && rooms["task"].contains("privacy"),
        "imports are not found: {rooms:#?}"
    );
    assert_eq!(upward(&rooms), Vec::<String>::new(), "all imports: {rooms:#?}");
}

#[test]
fn an_import_upward_or_beside_is_found() {
    let made_up = [("gp", ["kernel", "task"]), ("audit", ["run", "spec"])];
    let rooms = made_up.map(|(room, used)| (room.to_owned(), used.map(str::to_owned).into())).into();
    assert_eq!(upward(&rooms), ["audit imports from run", "gp imports from task"]);
}

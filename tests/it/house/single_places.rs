//! What the program does in one place only, so that one file says how it is done.

use super::graph::Graph;
use crate::support::shipped::root;

/// A name of a library, and the files that alone may use it: the system's randomness for the noise of releases and for the
/// key of the user's data, and the threads of the program.
const SINGLE: &[(&str, &[&str])] =
    &[("SysRng", &["release/draw", "run/state"]), ("ThreadPoolBuilder", &["run/pool"])];

/// The files whose imports or paths hold a name.
fn users(graph: &Graph, name: &str) -> Vec<String> {
    let mut users = Vec::new();
    for (module, source) in graph.sources() {
        let imported = source.uses.iter().any(|import| import.path.iter().any(|part| part == name));
        let named = source.paths.iter().flatten().any(|part| part == name);
        if imported || named {
            users.push(module.join("/"));
        }
    }
    users
}

#[test]
fn randomness_and_threads_come_from_one_file_each() {
    let graph = Graph::read(&root().join("src"));
    for (name, files) in SINGLE {
        assert_eq!(users(&graph, name), *files, "{name} may be used in {files:?} alone");
    }
}

//! The order of a release is a matter of types: what would draw before it charges does not compile.
//!
//! Each program beside this file is compiled against the library as it is. One keeps the order and compiles; each of the others turns
//! it round, and the compiler must say why it does not, in the code of its error and in the place.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::shipped::root;

/// The newest library beside this test, which was compiled with it.
fn library(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let libraries = files.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libdpgp-") && name.ends_with(".rlib")
    });
    libraries.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap()
}

/// What the compiler says of a program; nothing of one that compiles.
fn compiled(name: &str) -> Option<String> {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--error-format", "short"])
        .arg("--extern")
        .arg(format!("dpgp={}", library(folder).display()))
        .arg("-L")
        .arg(format!("dependency={}", folder.display()))
        .arg("--out-dir")
        .arg(out.path())
        .arg(root().join("tests/it/privacy/order").join(name))
        .output()
        .unwrap();
    (!run.status.success()).then(|| String::from_utf8_lossy(&run.stderr).into_owned())
}

#[test]
fn a_release_that_is_charged_first_compiles() {
    assert_eq!(compiled("charged_first.rs"), None);
}

#[test]
fn a_draw_before_its_charge_does_not_compile() {
    for (name, line, code, says) in [
        // An offer has no draw.
        ("drawn_first.rs", 6, "E0599", "draw"),
        // What is paid is made by a charge alone.
        ("paid_by_hand.rs", 6, "E0451", "receipt"),
        // What can be written is made by a draw of what was paid.
        ("written_by_hand.rs", 6, "E0451", "receipt"),
        // An offer that was charged is gone: it cannot be drawn twice for one charge.
        ("drawn_twice.rs", 7, "E0382", "moved"),
        // The noise itself cannot be had.
        ("noise_by_hand.rs", 3, "E0603", "private"),
    ] {
        let said = compiled(name).unwrap_or_else(|| panic!("{name} compiles"));
        let place = format!("{name}:{line}:");
        let found = said.lines().any(|told| told.contains(&place) && told.contains(code) && told.contains(says));
        assert!(found, "{name}: {said}");
    }
}

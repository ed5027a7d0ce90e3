//! Pages under a validator.

use std::path::Path;
use std::process::Command;

/// Fails for a page that is not valid HTML; passes with a word where there is no validator.
pub fn assert_valid(page: &Path) {
    match Command::new("tidy").args(["-e", "-q"]).arg(page).output() {
        Err(_) => println!("skipped: no tidy"),
        Ok(output) => {
            let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && complaints.is_empty(), "{complaints}");
        }
    }
}

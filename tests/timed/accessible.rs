//! Pages under a checker of accessibility.

use serde_json::{Value, json};

use crate::browser::Browser;

/// The file of the checker, axe-core, where it is installed.
const CHECKER: &str = "DPGP_AXE";

/// Fails for a page, open in the browser, that not everybody can read, in light or dark; passes with a word where there is no checker.
/// Everything that is folded is unfolded first.
pub fn assert_accessible(browser: &Browser) {
    let checker = std::env::var_os(CHECKER).filter(|file| !file.is_empty());
    let Some(checker) = checker.and_then(|file| std::fs::read_to_string(file).ok()) else {
        println!("skipped: no axe-core, whose axe.min.js {CHECKER} would name");
        return;
    };
    browser.run("document.querySelectorAll('details').forEach(details => details.open = true)");
    for scheme in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.emulate("Emulation.setEmulatedMedia", media);
        browser.run(&format!("{checker}; window.axe = axe;"));
        browser.run(
            "window.violations = null;
             const told = (node) => `${node.html} ${node.failureSummary}`;
             axe.run(document).then(({ violations }) => {
               window.violations = violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(told)]);
             });",
        );
        let violations = loop {
            match browser.run("return window.violations") {
                Value::Null => std::thread::sleep(std::time::Duration::from_millis(50)),
                violations => break violations,
            }
        };
        assert_eq!(violations, json!([]), "{scheme}");
    }
}

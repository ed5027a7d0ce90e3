//! The report in a real browser, and under a validator.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::accessible::assert_accessible;
use crate::browser::Browser;
use crate::html::assert_valid;
use crate::support::cli::Project;
use crate::support::shipped::root;

/// The report on the committed results.
fn report(project: &Project) -> PathBuf {
    let results = root().join("results");
    let run = project.dpgp(&["report", "--out", "page.html", "--results", results.to_str().unwrap()]).expect(0);
    assert!(run.out.contains("written to page.html"), "{}", run.out);
    project.path("page.html")
}

#[test]
fn the_page_is_one_valid_file_without_requests() {
    let project = Project::new();
    let page = report(&project);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.len() <= 2_000_000, "{} bytes", html.len());
    for outside in ["src=\"http", "href=\"http", "url(http", "@import", "<link rel=\"stylesheet\""] {
        assert!(!html.contains(outside), "{outside}");
    }
    for name in ["smith2021-table1\"", "smith2021-toy\"", "Guarantees", "Deviations", "Errata", "Manifest"] {
        assert!(html.contains(name), "{name}");
    }
    assert_valid(&page);
}

#[test]
fn the_page_begins_with_what_the_papers_say_and_what_ours_is() {
    let project = Project::new();
    let html = std::fs::read_to_string(report(&project)).unwrap();
    let [said, covered, others, experiments] = [
        "<h2>What the papers say, and what we find</h2>",
        "<h2>Coverage</h2>",
        "<h2>Where others disagree with us</h2>",
        "<h2>Experiments</h2>",
    ]
    .map(|heading| html.find(heading).unwrap_or_else(|| panic!("{heading}")));
    assert!(said < covered && covered < others && others < experiments);
    // A statement that fails, with its reason, and a link to the figure of its experiment.
    let told = &html[said..covered];
    for part in ["improve up to ϵ = 30.0”", "Algorithm 2 as printed compares a sum", "href=\"#honkela2021-fig3\""] {
        assert!(told.contains(part), "{part}");
    }
    assert!(html[covered..others].contains("smith2021"));
    // The standing of a paper is that of all its experiments.
    let one = project.dpgp(&["report", "smith2021/toy", "--out", "one.html"]).expect(0);
    assert!(one.err.is_empty() && !project.read("one.html").contains("What the papers say"));
}

fn html(project: &Project) -> String {
    project.dpgp(&["report"]).expect(0);
    project.read("report.html")
}

#[test]
fn an_experiment_without_results_and_a_stale_one_are_named() {
    let project = Project::new();
    assert!(html(&project).contains("has not been run"));
    project.dpgp(&["run", "smith2021/toy"]).expect(0);
    let manifest = project.read("results/smith2021/toy/manifest.json");
    assert!(!html(&project).contains("another version of the experiment’s spec. Run"));
    let digest = manifest.find("\"spec_sha256\": \"").unwrap() + 16;
    let other = format!("{}0000{}", &manifest[..digest], &manifest[digest + 4..]);
    project.write("results/smith2021/toy/manifest.json", &other);
    assert!(html(&project).contains("another version of the experiment’s spec. Run"));
    project.write("results/smith2021/toy/table.csv", "a,b\n1\n");
    assert!(project.dpgp(&["report"]).expect(5).err.contains("toy/table.csv is not a table"));
}

/// The text of a column of the first table with rows, from top to bottom, of the rows that are drawn.
const COLUMN: &str = "
    document.querySelectorAll('details').forEach(details => details.open = true);
    const table = document.querySelector('#smith2021-table1 .rows table');
    const heads = [...table.tHead.rows[0].cells].map(cell => cell.innerText.trim().split('\\n')[0].trim());
    const at = heads.findIndex(head => head.startsWith('ours'));
    return [...table.tBodies[0].rows].filter(row => row.offsetParent !== null).map(row => row.cells[at].innerText);
";

/// Waits for the script to have unpacked the rows; a test that would wait forever is stopped by whoever runs it.
fn wait_until_unpacked(browser: &Browser) {
    while browser.run("return window.dpgpReady === true") != true {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn numbers(column: &Value) -> Vec<f64> {
    let cells = column.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap());
    cells.map(|cell| cell.split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn tables_sort_and_filter_and_the_console_is_silent() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::new();
    browser.open(&report(&project));
    wait_until_unpacked(&browser);
    assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);

    browser.run(
        "const box = document.querySelector('#filter input');
         box.value = 'rmse';
         box.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    let grid = numbers(&browser.run(COLUMN));
    // Twelve cells, each with a row over folds and one over replicates, and as many of r2, which the filter hides.
    assert_eq!(grid.len(), 24);
    let sort = "
        const buttons = [...document.querySelectorAll('#smith2021-table1 .rows thead button')];
        buttons.find(button => button.innerText.trim().startsWith('ours')).click();";
    let mut ascending = grid.clone();
    ascending.sort_by(f64::total_cmp);
    browser.run(sort);
    assert_eq!(numbers(&browser.run(COLUMN)), ascending);
    browser.run(sort);
    ascending.reverse();
    assert_eq!(numbers(&browser.run(COLUMN)), ascending);

    browser.run(
        "const box = document.querySelector('#filter input');
         box.value = 'nonstationary';
         box.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    assert_eq!(numbers(&browser.run(COLUMN)).len(), 16);
    // A word with = asks for a cell of a column: 1 is not 11.
    browser.run(
        "const box = document.querySelector('#filter input');
         box.value = 'epsilon=1 metric=rmse';
         box.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    assert_eq!(numbers(&browser.run(COLUMN)).len(), 6);
    let best = browser.run(
        "const board = [...document.querySelectorAll('#leaderboards h3')].find(h => h.innerText.includes('house'));
         const table = board.nextElementSibling.querySelector('table');
         const at = [...table.tHead.rows[0].cells].findIndex(cell => cell.innerText.trim() === 'epsilon = 1');
         const rows = [...table.tBodies[0].rows].filter(row => row.cells[at].querySelector('b'));
         return rows.map(row => row.cells[0].innerText + ', ' + row.cells[1].innerText);",
    );
    assert_eq!(best, json!(["targets-risk, targets"]));
    assert_eq!(browser.console(), Vec::<Value>::new());
}

#[test]
fn every_row_and_figure_of_the_results_is_on_the_page() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::new();
    browser.open(&report(&project));
    wait_until_unpacked(&browser);
    let (mut rows, mut figures) = (0, 0);
    for table in glob::glob(&format!("{}/results/*/**/table.csv", root().display())).unwrap() {
        let table = table.unwrap();
        if table.components().any(|part| part.as_os_str() == "quick") {
            continue;
        }
        rows += csv::Reader::from_path(&table).unwrap().into_records().count();
        figures += usize::from(table.with_file_name("figure.svg").exists());
    }
    let told = browser.run("return document.querySelector('#filter p').innerText");
    assert!(told.as_str().unwrap().starts_with(&format!("{rows} of {rows} rows")), "{told}, {rows}");
    let drawn = browser.run("return document.querySelectorAll('figure:not([hidden]) svg').length");
    assert_eq!(drawn, figures);
    // A table shows its first rows until it is asked for all, or a link leads to one of the others.
    let drawn = "return document.querySelectorAll('#beyond-leaderboard-houses tbody tr').length";
    assert_eq!(browser.run(drawn), 24);
    browser.run("document.querySelector('#beyond-leaderboard-houses .more').click()");
    let all: u64 = browser.run(drawn).as_u64().unwrap();
    assert!(all > 24);
    let last = "return [...document.querySelectorAll('#beyond-leaderboard-houses tbody tr')].at(-1).id";
    let last = browser.run(last);
    browser.open(&project.path("page.html"));
    wait_until_unpacked(&browser);
    browser.run(&format!("location.hash = {last}"));
    while browser.run("return document.querySelector('tr.target') === null") == true {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(browser.run("return document.querySelector('tr.target').id"), last);
    assert_eq!(browser.run("return document.querySelector('tr.target').closest('details').open"), true);
    assert_eq!(browser.console(), Vec::<Value>::new());
}

#[test]
fn everybody_can_read_the_page() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::new();
    browser.open(&report(&project));
    wait_until_unpacked(&browser);
    assert_accessible(&browser);
}

#[test]
fn the_page_fits_a_phone_and_reads_without_scripts() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::new();
    let page = report(&project);
    let phone = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.emulate("Emulation.setDeviceMetricsOverride", phone);
    browser.open(&page);
    let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.run(overflow), 0);
    // Each number stands below its heading.
    let apart = "const left = (cell) => Math.round(cell.getBoundingClientRect().left); \
        const shown = (cells) => [...cells].filter((cell) => cell.offsetWidth > 0).map(left); \
        const table = document.querySelector('.covered'); \
        return shown(table.tHead.rows[1].cells).join() === shown(table.tBodies[0].rows[0].querySelectorAll('td')).join()";
    assert_eq!(browser.run(apart), true);
    for scheme in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.emulate("Emulation.setEmulatedMedia", media);
        let colour = browser.run("return getComputedStyle(document.body).backgroundColor");
        let channels: Vec<u32> =
            colour.as_str().unwrap().split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        assert_eq!(channels[..3].iter().sum::<u32>() > 384, scheme == "light", "{scheme}: {colour}");
    }
    browser.emulate("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.open(&page);
    browser.emulate("Emulation.setScriptExecutionDisabled", json!({ "value": false }));
    assert_eq!(numbers(&browser.run(COLUMN)).len(), 24);
    assert_eq!(browser.run("return document.querySelectorAll('button, input').length"), 0);
}

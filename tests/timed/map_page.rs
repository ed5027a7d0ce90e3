//! The page of a map, as a reader meets it.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::accessible::assert_accessible;
use crate::browser::Browser;
use crate::html::assert_valid;
use crate::support::cli::Project;

/// Four columns of three cells; the mean at (x, y) is 100 x + y, the noise is large in the first column.
fn page(project: &Project) -> PathBuf {
    let mut csv = "lon,lat,private_mean,gp_sd,noise_sd,low,high\n".to_owned();
    for (x, y) in (0..4).flat_map(|x| (0..3).map(move |y| (x, y))) {
        let mean = 100 * x + y;
        let noise = if x == 0 { 90 } else { 5 };
        csv.push_str(&format!("{x},{y},{mean},2,{noise},{},{}\n", mean - 10, mean + 10));
    }
    project.write("p.csv", &csv);
    project.dpgp(&["map", "p.csv", "--out", "map.html"]).expect(0);
    project.path("map.html")
}

/// Points at the middle of a tile: after those of the colour bar there is one for each cell, by x and then by y.
fn pointed_at(browser: &Browser, cell: usize) -> String {
    let script = format!(
        "const box = document.querySelectorAll('#map polygon')[64 + {cell}].getBoundingClientRect();
         const at = {{ clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true }};
         document.getElementById('map').dispatchEvent(new PointerEvent('pointermove', at));
         return document.getElementById('now').textContent"
    );
    browser.run(&script).as_str().unwrap().to_owned()
}

fn after_key(browser: &Browser, key: &str) -> String {
    let script = format!(
        "const map = document.getElementById('map');
         map.focus();
         map.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}));
         return document.getElementById('now').textContent"
    );
    browser.run(&script).as_str().unwrap().to_owned()
}

#[test]
fn a_page_of_a_map_is_valid_html() {
    let project = Project::empty();
    let page = page(&project);
    assert_valid(&page);
}

#[test]
fn everybody_can_read_a_map() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::empty();
    browser.open(&page(&project));
    assert_accessible(&browser);
}

#[test]
fn the_numbers_of_a_cell_are_shown_by_pointer_and_keyboard() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::empty();
    browser.open(&page(&project));
    assert_eq!(browser.run("return window.dpgpReady"), true);
    assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);
    for (cell, [x, y]) in [(0, [0, 0]), (2, [0, 2]), (7, [2, 1]), (11, [3, 2])] {
        let text = pointed_at(&browser, cell);
        assert!(text.contains(&format!("lon {x}lat {y}mean {}gp_sd 2", 100 * x + y)), "{cell}: {text}");
        assert!(text.contains(if x == 0 { "masked yes" } else { "masked no" }), "{text}");
    }
    // From the last cell to the left and down; beyond the edge nothing changes.
    assert!(after_key(&browser, "ArrowRight").contains("mean 302"));
    assert!(after_key(&browser, "ArrowLeft").contains("mean 202"));
    assert!(after_key(&browser, "ArrowDown").contains("mean 201"));
    browser.run("document.querySelector('details').open = true");
    assert_eq!(browser.run("return document.querySelectorAll('#rows tbody tr').length"), 12);
    assert_eq!(browser.console(), Vec::<Value>::new());
}

#[test]
fn a_map_fits_a_phone_in_both_schemes() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::empty();
    let phone = json!({ "width": 400, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.emulate("Emulation.setDeviceMetricsOverride", phone);
    browser.open(&page(&project));
    let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.run(overflow), 0);
    let mut colours = Vec::new();
    for scheme in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.emulate("Emulation.setEmulatedMedia", media);
        colours.push(browser.run("return getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(colours[0], colours[1]);
}

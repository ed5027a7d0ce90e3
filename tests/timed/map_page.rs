//! The page of a map, as a reader meets it.

use std::path::{Path, PathBuf};

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

/// Opens a page of so many pixels.
fn opened(browser: &Browser, page: &Path, width: u32) {
    let screen = json!({ "width": width, "height": 844, "deviceScaleFactor": 2, "mobile": width < 800 });
    browser.emulate("Emulation.setDeviceMetricsOverride", screen);
    browser.open(page);
}

/// Maps of every kind: cells with coordinates of many digits, a line, and bars with long words.
fn every_kind(project: &Project) -> Vec<PathBuf> {
    let row = |inputs: String, i: i32| format!("{inputs},{},2,1,{},{}\n", 1000 * i, 1000 * i - 5, 1000 * i + 5);
    let cells = (0..25).map(|i| {
        row(format!("{},{}", -73.987_654 + 0.001 * f64::from(i / 5), 40.712_345 + 0.001 * f64::from(i % 5)), i)
    });
    let line = (0..9).map(|i| row(format!("{}", 1_234_567.0 + 0.5 * f64::from(i)), i));
    let words = ["a word that is much longer than others", "short", "<i>", "south"];
    let bars = words.iter().zip(0..).map(|(word, i)| row((*word).to_owned(), i));
    let kinds = [
        ("start_longitude,start_latitude", cells.collect::<String>()),
        ("seconds_since_the_beginning_of_the_experiment", line.collect()),
        ("station", bars.collect()),
    ];
    let pages = kinds.into_iter().enumerate().map(|(i, (names, rows))| {
        project.write(&format!("{i}.csv"), &format!("{names},private_mean,gp_sd,noise_sd,low,high\n{rows}"));
        let page = format!("{i}.html");
        let unit = "thousandths of a very long unit of energy";
        project.dpgp(&["map", &format!("{i}.csv"), "--out", &page, "--unit", unit]).expect(0);
        project.path(&page)
    });
    pages.collect()
}

/// The texts of the drawing that leave it, and the pairs of them that overlap.
const CROWDED: &str = "
    const edge = document.querySelector('#map svg').getBoundingClientRect();
    const all = [...document.querySelectorAll('#map text')];
    const texts = all.map((text) => [text.textContent.trim(), text.getBoundingClientRect()]);
    const isIn = (box) => box.left > edge.left - 1 && box.right < edge.right + 1 && box.top > edge.top - 1 && box.bottom < edge.bottom + 1;
    const names = texts.filter(([, box]) => !isIn(box)).map(([text]) => 'outside: ' + text);
    texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 2) names.push(one + ' over ' + other);
    }));
    if (edge.right > innerWidth + 1) names.push('the drawing is cut');
    return names";

#[test]
fn every_kind_of_map_is_whole_on_a_phone_and_on_a_desk() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::empty();
    let pages = every_kind(&project);
    for (page, width) in pages.iter().flat_map(|page| [400, 1280].map(|width| (page, width))) {
        opened(&browser, page, width);
        assert_eq!(browser.run(CROWDED), json!([]), "{} at {width}", page.display());
        let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.run(overflow), 0, "{} at {width}", page.display());
    }
    pages.iter().for_each(|page| {
        browser.open(page);
        assert_accessible(&browser);
        assert_valid(page);
    });
}

/// The numbers of a bar are those of the word beside it.
#[test]
fn bars_have_their_numbers() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::empty();
    browser.open(&every_kind(&project)[2]);
    for (bar, expected) in [(1, "station shortmean 1000"), (3, "station southmean 3000")] {
        let script = format!(
            "const box = document.querySelectorAll('#map polygon')[{bar}].getBoundingClientRect();
             const at = {{ clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true }};
             document.getElementById('map').dispatchEvent(new PointerEvent('pointermove', at));
             return document.getElementById('now').textContent"
        );
        let text = browser.run(&script);
        assert!(text.as_str().unwrap().starts_with(expected), "{text}");
    }
}

#[test]
fn a_map_fits_a_phone_in_both_schemes() {
    let Some(browser) = Browser::start() else { return };
    let project = Project::empty();
    opened(&browser, &page(&project), 400);
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

//! Pictures of releases, from a file of rows to a map.

use serde_json::Value;

use crate::support::cli::Project;
use crate::support::energy::{TARGETS, day, energy_csv, energy_project};

/// Trips of bikes: longer in the north.
fn trips() -> String {
    let mut text = "member_age,start_lon,start_lat,duration\n".to_owned();
    for i in 0..2000_usize {
        let part = |step: usize| ((i * step) % 2003) as f64 / 2003.0;
        let (lon, lat) = (-74.02 + 0.09 * part(7), 40.70 + 0.1 * part(101));
        let duration = 600.0 + 9000.0 * (lat - 40.70) + 200.0 * part(31);
        text.push_str(&format!("m{i},{lon:.6},{lat:.6},{duration:.1}\n"));
    }
    text
}

/// What a user writes for each `nan` of a new spec, in order.
const FILLED: [(&str, &str); 11] = [
    ("low = nan", "low = 0.0"),
    ("high = nan", "high = 3600.0"),
    ("noise_variance = nan", "noise_variance = 324000.0"),
    ("\nvariance = nan", "\nvariance = 3240000.0"),
    ("    nan,   # \"start_lon\"", "    0.2,"),
    ("    nan,   # \"start_lat\"", "    0.2,"),
    ("from = nan, to = nan, points = 25", "from = -74.02, to = -73.93, points = 6"),
    ("from = nan, to = nan, points = 25", "from = 40.70, to = 40.80, points = 5"),
    ("target_bound = nan", "target_bound = 1800.0"),
    ("[nan, nan],   # \"start_lon\"", "[-74.02, -73.93],"),
    ("[nan, nan],   # \"start_lat\"", "[40.70, 40.80],"),
];

fn filled(mut spec: String) -> String {
    for (from, to) in FILLED {
        assert!(spec.contains(from), "{from} is not in\n{spec}");
        spec = spec.replacen(from, to, 1);
    }
    spec
}

fn releases(project: &Project) -> usize {
    let ledgers = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).out;
    ledgers.matches("\"release_id\"").count()
}

#[test]
fn from_trips_to_a_map_in_four_commands() {
    let project = Project::empty();
    project.write("trips.csv", &trips());
    project.dpgp(&["new", "--data", "trips.csv", "--private-inputs"]).expect(0);
    project.write("trips.toml", &filled(project.read("trips.toml")));
    let predict = ["predict", "trips.toml", "--grid", "auto", "--out", "p.csv", "--quiet", "--map"];
    // What makes no map is refused before anything is charged or written.
    project.write("there.html", "precious");
    for (map, more, says) in [
        ("map.png", "", "use .svg, .html or .geojson"),
        ("there.html", "", "already exists"),
        ("p.csv.certificate.json.svg", "--slice=start_lon=9", "use one of -74.02, "),
        ("p.csv", "", "given for two output files"),
    ] {
        let more: &[&str] = if more.is_empty() { &[] } else { &[more] };
        let run = project.dpgp(&[&predict[..], &[map], more].concat()).expect(2);
        assert!(run.err.contains(says), "{map}: {}", run.err);
        assert!(!project.path("p.csv").exists() && releases(&project) == 0);
    }
    let run = project.dpgp(&[&predict[..], &["map.html"]].concat()).expect(0);
    assert!(run.out.contains("map written to map.html") && project.read("there.html") == "precious", "{}", run.out);
    let html = project.read("map.html");
    for part in [
        "<h1>Private mean of duration by start_lon and start_lat</h1>",
        "Guarantee: (1.0, 1e-5)-DP for the fitted posterior, noisy moments, analytic calibration, one record is replaced.",
        "The certificate says that the noise came from the operating system.",
        "Not covered: ",
        "of 30 cells",
    ] {
        assert!(html.contains(part), "{part} is not in\n{}", &html[html.find("<figcaption").unwrap()..][..2000]);
    }
    // The same picture from the files, and others of them.
    let again = project.dpgp(&["map", "p.csv", "--out", "again.html"]).expect(0);
    assert!(project.read("again.html") == html && again.out.contains("Guarantee: (1.0, 1e-5)-DP"));
    project.dpgp(&["map", "p.csv", "--out", "again.html"]).expect(2);
    project.dpgp(&["map", "p.csv", "--out", "map.svg"]).expect(0);
    assert!(project.read("map.svg").contains("Guarantee: (1.0, 1e-5)-DP"));
    let json = project.dpgp(&["map", "p.csv", "--out", "map.geojson", "--format", "json"]).expect(0).json();
    assert_eq!(json["map"]["points"], 30);
    assert_rings(&project, &project.json("map.geojson"));
    // What was changed after the release has no guarantee.
    let changed = project.read("p.csv").replacen("40.7,", "40.71,", 1);
    project.write("p.csv", &changed);
    let run = project.dpgp(&["map", "p.csv", "--out", "changed.svg"]).expect(0);
    assert!(run.out.contains("Nothing is claimed") && run.out.contains("the digest"), "{}", run.out);
    assert!(!project.read("changed.svg").contains("Guarantee"));
}

/// What a release of a map says, and the warnings of its certificate.
fn released_map(project: &Project, name: &str) -> (String, String) {
    let (spec, out) = (format!("{name}.toml"), format!("{name}-map.csv"));
    let run = project.dpgp(&["predict", &spec, "--grid", "auto", "--out", &out, "--no-ledger"]).expect(0);
    (run.err + &run.out, project.json(&format!("{out}.certificate.json"))["warnings"].to_string())
}

/// If longitude and latitude are exchanged in the box, no row lies on the map. The warning follows from the release.
#[test]
fn a_map_of_another_place_is_named() {
    let project = Project::empty();
    project.write("trips.csv", &trips());
    project.dpgp(&["new", "--data", "trips.csv", "--private-inputs"]).expect(0);
    let here =
        filled(project.read("trips.toml")).replace("epsilon = 1.0", "epsilon = 8.0").replace("[1.0, inf]", "[8.0]");
    project.write("trips.toml", &here);
    let exchanged = here
        .replace("-74.02", "LOW")
        .replace("-73.93", "HIGH")
        .replace("40.70", "-74.02")
        .replace("40.80", "-73.93")
        .replace("LOW", "40.70")
        .replace("HIGH", "40.80");
    project.write("elsewhere.toml", &exchanged);
    let (said, warnings) = released_map(&project, "trips");
    assert!(!said.contains("too little is known") && !warnings.contains("too little is known"), "{said}");
    let (said, warnings) = released_map(&project, "elsewhere");
    assert!(said.contains("of 30 points, too little is known"), "{said}");
    assert!(warnings.contains("Check the ends of the map, the order of the inputs"), "{warnings}");
    // The same from sums, asked later.
    project.dpgp(&["stats", "elsewhere.toml", "trips.csv", "--release", "m.json", "--no-ledger"]).expect(0);
    let later = project.dpgp(&["predict", "--from", "m.json", "--grid", "auto", "--out", "later.csv"]).expect(0);
    assert!(later.err.contains("too little is known"), "{}", later.err);
}

/// Closed, counter-clockwise, within the ends of the map, and all of it together.
fn assert_rings(project: &Project, map: &Value) {
    assert_eq!(map["guarantee"]["epsilon"], 1.0);
    let means: Vec<f64> =
        project.read("p.csv").lines().skip(1).map(|row| row.split(',').nth(2).unwrap().parse().unwrap()).collect();
    let features = map["features"].as_array().unwrap();
    let drawn: Vec<f64> = features.iter().map(|cell| cell["properties"]["mean"].as_f64().unwrap()).collect();
    assert_eq!(drawn, means);
    let mut area = 0.0;
    for feature in features {
        let ring: Vec<[f64; 2]> = serde_json::from_value(feature["geometry"]["coordinates"][0].clone()).unwrap();
        assert!(ring.len() == 5 && ring[0] == ring[4], "{ring:?}");
        assert!(ring.iter().all(|[lon, lat]| (-74.02..=-73.93).contains(lon) && (40.70..=40.80).contains(lat)));
        let sides = ring
            .windows(2)
            .map(|side| (side[0][0] + 74.0) * (side[1][1] - 40.0) - (side[1][0] + 74.0) * (side[0][1] - 40.0));
        let twice: f64 = sides.sum();
        assert!(twice > 0.0, "{ring:?}");
        area += twice / 2.0;
    }
    assert!((area - 0.009).abs() < 1e-9, "{area}");
}

const LINE: &str = r#"{"type": "Feature", "properties": {"name": "<script>alert(7)</script>"},
"geometry": {"type": "LineString", "coordinates": [[-74.0, 40.0], [-74.0, 41.0]]}}"#;

/// What changes a drawing is read before anything is charged or written, and wrong words and files change nothing.
#[test]
fn scales_and_outlines_are_read_first() {
    let project = Project::empty();
    project.write("trips.csv", &trips());
    project.dpgp(&["new", "--data", "trips.csv", "--private-inputs"]).expect(0);
    project.write("trips.toml", &filled(project.read("trips.toml")));
    project.write("line.geojson", LINE);
    project.write("away.geojson", &LINE.replace("-74.0", "8.0"));
    project.write("bad.geojson", "{\"type\": \"Polgon\"}");
    project.write("large.geojson", &" ".repeat(11 << 20));
    let predict = ["predict", "trips.toml", "--grid", "auto", "--out", "p.csv", "--quiet", "--map", "map.html"];
    for (more, code, says) in [
        ("--scale=30..10", 2, "\"30..10\" is not a scale: use LOW..HIGH"),
        ("--scale=0..nan", 2, "is not a scale"),
        ("--scale=-inf..0", 2, "is not a scale"),
        ("--scale=low..high", 2, "is not a scale"),
        ("--outline=bad.geojson", 2, "bad.geojson: the file has the type \"Polgon\""),
        ("--outline=large.geojson", 2, "large.geojson: is larger than 10 MB"),
        ("--outline=nowhere.geojson", 2, "nowhere.geojson: "),
        ("--outline=trips.csv", 2, "trips.csv: is not JSON"),
        ("--outline=away.geojson", 2, "away.geojson: no line crosses the map"),
    ] {
        let run = project.dpgp(&[&predict[..], &[more]].concat()).expect(code);
        assert!(run.err.contains(says), "{more}: {}", run.err);
        let there = ["p.csv", "map.html", "p.csv.certificate.json"];
        assert!(there.iter().all(|file| !project.path(file).exists()) && releases(&project) == 0, "{more}");
    }
    let drawn = ["--scale", "-100..2000", "--outline", "line.geojson", "--unit", "seconds"];
    project.dpgp(&[&predict[..], &drawn].concat()).expect(0);
    let html = project.read("map.html");
    for part in ["&lt;= -100", "&gt;= 2000", "The lines come from line.geojson.", "start_lon (°)", "<polyline"] {
        assert!(html.contains(part), "{part} is not in the page");
    }
    assert!(!html.contains("alert(7)"));
    let run = project.dpgp(&["map", "p.csv", "--out", "m.geojson", "--scale", "0..1"]).expect(2);
    assert!(run.err.contains("--scale changes a drawing") && !project.path("m.geojson").exists(), "{}", run.err);
}

/// An input with words gives a bar for each.
#[test]
fn words_are_bars() {
    let project = energy_project(TARGETS);
    let rows = (0..120).map(|i| format!("{},{}\n", ["flat", "house"][i % 2], 10 + 12 * (i % 2) + i % 5));
    project.write("energy.csv", &format!("home,kwh\n{}", rows.collect::<String>()));
    let spec = TARGETS.replace("[\"temperature\"]", "[\"home\"], encode = { home = [\"flat\", \"house\"] }");
    project.write("energy.toml", &spec.replace("lengthscale = 8.0", "lengthscale = 0.5"));
    project.write("homes.csv", "home\nhouse\nflat\n");
    let predict = ["predict", "energy.toml", "--at", "homes.csv", "--out", "p.csv", "--map", "bars.html", "--quiet"];
    project.dpgp(&predict).expect(0);
    let html = project.read("bars.html");
    assert!(html.contains("95 % interval of the function") && html.contains("\nhouse\n"), "no bars");
    assert_eq!(html.matches("<polygon").count(), 2);
}

#[test]
fn one_input_is_a_line_between_bands() {
    let project = energy_project(TARGETS);
    project.write("energy.csv", &energy_csv(&(0..120).map(day).collect::<Vec<_>>()));
    let predict = |map: &str| {
        let grid = ["--grid", "temperature=0..20:21", "--out", "p.csv", "--quiet", "--map", map];
        project.dpgp(&[&["predict", "energy.toml"], &grid[..]].concat())
    };
    assert!(predict("line.geojson").expect(2).err.contains("GeoJSON needs points"));
    assert_eq!(releases(&project), 0);
    predict("line.svg").expect(0);
    let svg = project.read("line.svg");
    for part in ["privacy noise alone", "95 % interval of the function", "one target changes by"] {
        assert!(svg.contains(part), "{part} is not in\n{svg}");
    }
    assert_eq!(svg.matches("<polygon").count(), 2);
    assert!(project.dpgp(&["map", "p.csv", "--out", "m.svg", "--mask", "1"]).expect(2).err.contains("two inputs"));
    // Without its certificate a file claims nothing.
    std::fs::rename(project.path("p.csv"), project.path("bare.csv")).unwrap();
    let run = project.dpgp(&["map", "bare.csv", "--out", "bare.html"]).expect(0);
    assert!(run.out.contains("No certificate beside the file: nothing is claimed."), "{}", run.out);
}

/// Names come from a file of somebody else: they are text wherever they stand.
#[test]
fn hostile_names_stay_names() {
    let project = Project::empty();
    let names = "\"</title><script>alert(1)</script>\",\"x\" \"y\"\" onload=\"\"alert(2)\u{1b}[31m&amp;'\""
        .replace("\"x\" ", "");
    let header = format!("{names},\"{{{{ title }}}}\",private_mean,gp_sd,noise_sd,low,high\n");
    let rows = (0..9).map(|i| format!("{},{},<b>word</b>,{i},1,0.1,{i},{i}\n", i / 3, i % 3));
    project.write("p.csv", &format!("{header}{}", rows.collect::<String>()));
    for file in ["m.svg", "m.html"] {
        let run = project.dpgp(&["map", "p.csv", "--out", file]).expect(0);
        let text = project.read(file);
        assert!(
            !text.contains("<script>alert") && !text.contains("onload=\"alert") && !text.contains("<b>word"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}') && !run.out.contains('\u{1b}'));
        assert!(text.contains("&lt;script&gt;alert(1)"), "{text}");
    }
    assert!(project.read("m.html").contains("{{ title }} = &lt;b&gt;word"));
    // What is no file of predictions, and a certificate that is none.
    project.write("other.csv", "x,y\n1,2\n");
    assert!(project.dpgp(&["map", "other.csv", "--out", "o.svg"]).expect(2).err.contains("private_mean"));
    project.write("p.csv.certificate.json", "{\"guarantee\": \"(0.0, 0.0)-DP\"}");
    assert!(
        project
            .dpgp(&["map", "p.csv", "--out", "o.svg"])
            .expect(2)
            .err
            .contains("cannot verify p.csv.certificate.json")
    );
    assert!(!project.path("o.svg").exists());
}

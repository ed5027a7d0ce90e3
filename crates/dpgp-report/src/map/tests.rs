use super::*;
use dpgp_release::CertificateSummary;

/// A file with these inputs; the mean is a number of its own for each row.
fn released(names: &str, rows: &[&str]) -> PredictionsFileContents {
    let rows = rows
        .iter()
        .enumerate()
        .map(|(i, inputs)| format!("{inputs},{i},1,0.5,{},{}\n", i as f64 - 2.2, i as f64 + 2.2));
    let csv = format!("{names},private_mean,gp_sd,noise_sd,low,high\n{}", rows.collect::<String>());
    PredictionsFileContents::parse("p.csv".as_ref(), &csv, CertificateSummary::without_certificate()).unwrap()
}

fn refused(released: &PredictionsFileContents, options: &MapOptions, format: MapFormat) -> String {
    draw_map(released, options, format).unwrap_err().to_string()
}

const PLANE: [&str; 6] = ["0,0", "0,1", "0,3", "2,0", "2,1", "2,3"];

#[test]
fn a_line_has_two_bands_and_a_plane_a_tile_for_each_point() {
    let plain = MapOptions::default();
    let line = draw_map(&released("x,z", &["0,7", "1,7", "2,7"]), &plain, MapFormat::Svg).unwrap();
    assert_eq!((line.points, line.masked, line.text.matches("<polygon").count()), (3, 0, 2));
    assert!(line.text.contains("<title>Column private_mean by x, z = 7</title>"), "{}", &line.text[..400]);
    let plane = released("a,b", &PLANE);
    let all = draw_map(&plane, &plain, MapFormat::Svg).unwrap();
    assert_eq!(all.text.matches("<polygon").count(), 64 + 6, "the colour bar and the cells");
    // Means are 0 to 5, with a variance of 35/12, and each is uncertain by 1.25: less than half of their sum.
    assert_eq!(all.masked, 0);
    let masked = draw_map(&plane, &MapOptions { mask: Some(0.4), ..plain }, MapFormat::Svg).unwrap();
    assert_eq!(masked.masked, 6);
    let [plain, hatched] = [&all, &masked].map(|map| map.text.matches("#8C8C8C").count());
    assert!(plain == 0 && hatched > 60, "{hatched} strokes");
    assert!(masked.caption.concat().contains("or noise_sd above 0.4); 6 of 6 cells (100 %)"), "{:?}", masked.caption);
    assert!(masked.caption.concat().contains("Every cell is too uncertain to show"), "{:?}", masked.caption);
    let polygons = masked.text.matches("<polygon").count();
    assert!((6..64).contains(&polygons), "no colour bar, but {polygons} areas");
}

/// Rings are closed, run counter-clockwise, meet half way between points and end at the outermost ones.
#[test]
fn cells_of_geojson_tile_the_map() {
    let map = released("lat,lon", &["50,8", "50,9", "51,8", "51,9", "53,8", "53,9"]);
    let text = draw_map(&map, &MapOptions::default(), MapFormat::GeoJson).unwrap().text;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["guarantee"]["said"][0], "No certificate beside the file: nothing is claimed.");
    let mut area = 0.0;
    for feature in value["features"].as_array().unwrap() {
        let ring: Vec<[f64; 2]> = serde_json::from_value(feature["geometry"]["coordinates"][0].clone()).unwrap();
        assert_eq!((ring.len(), ring[0]), (5, ring[4]));
        assert!(ring.iter().all(|[lon, lat]| (8.0..=9.0).contains(lon) && (50.0..=53.0).contains(lat)));
        let twice: f64 = ring.windows(2).map(|side| side[0][0] * side[1][1] - side[1][0] * side[0][1]).sum();
        assert!(twice > 0.0, "clockwise: {ring:?}");
        area += twice / 2.0;
    }
    assert!((area - 3.0).abs() < 1e-12, "{area}");
    // The point (8, 51) is the third row: west of 8.5, from 50.5 to 52.
    let cell = &value["features"][1];
    assert_eq!(cell["geometry"]["coordinates"][0][2], serde_json::json!([8.5, 52.0]));
    assert_eq!(cell["properties"]["mean"], 2.0);
}

/// The error for points of two inputs that make no drawing.
fn refused_plane(rows: &[&str]) -> String {
    refused(&released("a,b", rows), &MapOptions::default(), MapFormat::Svg)
}

/// The corners of the polygons of a drawing, after so many.
fn polygons(svg: &str, skipped: usize) -> Vec<Vec<[f64; 2]>> {
    let numbers = |text: &str| -> Vec<[f64; 2]> {
        let spots = text.split_whitespace().map(|spot| spot.split_once(',').unwrap());
        spots.map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()]).collect()
    };
    let parts = svg.split("<polygon ").skip(1 + skipped);
    parts.map(|part| numbers(part.split("points=\"").nth(1).unwrap().split('"').next().unwrap())).collect()
}

/// The width and the height of all cells together.
fn size(svg: &str) -> [f64; 2] {
    let corners: Vec<[f64; 2]> = polygons(svg, 64).concat();
    [0, 1].map(|side| {
        let along = corners.iter().map(|corner| corner[side]);
        along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min)
    })
}

/// Cells over one degree of longitude and so many of latitude, from this one on.
fn square(names: &str, south: f64, high: f64) -> PredictionsFileContents {
    let rows = [0.0, 1.0].map(|x| [south, south + high].map(|y| format!("{},{y}", 7.0 + x))).concat();
    let mut map = released(names, &texts(&rows));
    // Far apart for their uncertainty, so that no cell is hatched.
    map.points.iter_mut().for_each(|point| point.mean *= 100.0);
    map
}

fn texts(rows: &[String]) -> Vec<&str> {
    rows.iter().map(String::as_str).collect()
}

/// At latitude 60 a degree of longitude is half as long as one of latitude; tall maps are narrower, and none is bent.
#[test]
fn a_map_of_the_earth_has_its_shape() {
    for (names, south, high, expected) in [
        ("lon,lat", 59.5, 1.0, 2.0),
        ("start_longitude,start_latitude", -0.5, 1.0, 1.0),
        ("Lng,Lat", 59.9, 0.2, 0.4),
        ("lon,lat", -61.0, 2.0, 4.0),
        // Other names, and latitudes that are none.
        ("colony,latency", 59.5, 1.0, 0.75),
        ("lon,lat", 89.5, 1.0, 0.75),
    ] {
        let map = square(names, south, high);
        for format in [MapFormat::Svg, MapFormat::Html] {
            let [width, height] = size(&draw_map(&map, &MapOptions::default(), format).unwrap().text);
            assert!((height / width / expected - 1.0).abs() < 0.01, "{names} {south}: {width} by {height}");
        }
    }
    let text = draw_map(&square("lon,lat", 59.5, 1.0), &MapOptions::default(), MapFormat::Svg).unwrap().text;
    assert!(text.contains("\nlon (°)\n") && text.contains("\nlat (°)\n"), "{text}");
}

/// Two maps with one scale have one colour for one number; numbers beyond the ends have the colours of the ends.
#[test]
fn a_scale_of_ones_own_makes_maps_comparable() {
    let colours = |means: [f64; 4], scale: Option<&str>| {
        let mut map = square("a,b", 0.0, 1.0);
        map.points.iter_mut().zip(means).for_each(|(point, mean)| point.mean = mean);
        let options = MapOptions { scale: scale.map(|scale| scale.parse().unwrap()), ..MapOptions::default() };
        let drawn = draw_map(&map, &options, MapFormat::Svg).unwrap();
        let fills = drawn.text.split("<polygon ").skip(1 + 64);
        let fills: Vec<String> =
            fills.map(|part| part.split("fill=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect();
        (fills, drawn)
    };
    let (may, drawn) = colours([-50.0, 10.0, 20.0, 99.0], Some("10..30"));
    let (june, _) = colours([20.0, 10.0, 70.0, 30.0], Some("10..30"));
    assert_eq!((&may[0], &may[2], &may[3]), (&may[1], &june[0], &june[3]));
    assert!(may[1] == june[1] && june[2] == june[3] && may[1] != may[2]);
    assert!(drawn.text.contains("\n&lt;= 10\n") && drawn.text.contains("\n&gt;= 30\n"), "{}", drawn.text);
    assert!(
        drawn
            .caption
            .concat()
            .contains("The scale was set to run from 10 to 30; 2 of the 4 means shown lie outside it.")
    );
    let (free, drawn) = colours([20.0, 10.0, 70.0, 30.0], None);
    assert!(free[3] != june[3] && !drawn.text.contains("&lt;= "));
    for wrong in [
        "30..10",
        "10..10",
        "nan..1",
        "0..inf",
        "-inf..0",
        "a..b",
        "1",
        "1..",
        "..1",
        "",
        "1...2",
        "1..2..3",
        "-1.7e308..1.7e308",
    ] {
        assert!(wrong.parse::<ValueScaleEnds>().unwrap_err().to_string().contains("use LOW..HIGH"), "{wrong}");
    }
}

/// A bar for each word, in the order of the file; its length is the mean, and its interval is drawn.
#[test]
fn words_have_bars() {
    let stations = released("station", &["north", "<b>south</b>", "east"]);
    let drawn = draw_map(&stations, &MapOptions::default(), MapFormat::Svg).unwrap();
    let bars = polygons(&drawn.text, 0);
    // The means are 0, 1 and 2.
    let ends = |bar: usize, side: usize| {
        let along = bars[bar].iter().map(|corner| corner[side]);
        [along.clone().fold(f64::MAX, f64::min), along.fold(f64::MIN, f64::max)]
    };
    let [one, two] = [1, 2].map(|bar| ends(bar, 0)[1] - ends(bar, 0)[0]);
    assert!((two / one - 2.0).abs() < 0.02 && ends(0, 1)[1] < ends(1, 1)[0] && ends(1, 1)[1] < ends(2, 1)[0]);
    assert!(drawn.text.contains("95 % interval of the function") && !drawn.text.contains("<b>"), "{}", drawn.text);
    let html = draw_map(&stations, &MapOptions::default(), MapFormat::Html).unwrap().text;
    // The first bar is the highest.
    assert!(html.contains("<tr id=\"c0-2\"><td>north</td>") && html.contains("<tr id=\"c0-0\"><td>east</td>"));
    let same = released("station", &["north", "north", "east"]);
    assert!(refused(&same, &MapOptions::default(), MapFormat::Svg).contains("two points have the same inputs"));
    let masked = MapOptions { mask: Some(1.0), ..MapOptions::default() };
    assert!(refused(&stations, &masked, MapFormat::Svg).contains("two inputs"));
    let many: Vec<String> = (0..61).map(|i| format!("w{i}")).collect();
    let many = released("station", &texts(&many));
    assert!(refused(&many, &MapOptions::default(), MapFormat::Svg).contains("more than 60 categories"));
}

/// Lines stand where they are on the earth, cut at the edges of the map.
#[test]
fn an_outline_is_drawn_over_the_cells() {
    let map = square("lon,lat", 59.5, 1.0);
    let line = |spots: &[(f64, f64)]| spots.iter().map(|spot| (*spot).into()).collect::<Vec<_>>();
    let with = |lines: Vec<Vec<dpgp_plot::PlotPoint>>| MapOptions {
        outline: Some(MapOutline { path: "a/<b>.geojson".into(), lines }),
        ..MapOptions::default()
    };
    // From the middle of the map to beyond its right side.
    let middle = with(vec![line(&[(7.5, 60.0), (9.5, 60.0)])]);
    let drawn = draw_map(&map, &middle, MapFormat::Svg).unwrap();
    let corners: Vec<[f64; 2]> = polygons(&drawn.text, 64).concat();
    let [left, right] = [f64::MAX, f64::MIN]
        .map(|from| corners.iter().map(|corner| corner[0]).fold(from, if from > 0.0 { f64::min } else { f64::max }));
    let lines: Vec<&str> = drawn.text.split("<polyline ").filter(|part| part.contains("stroke-width=\"10\"")).collect();
    assert_eq!(lines.len(), 1, "{}", drawn.text);
    let spots = lines[0].split("points=\"").nth(1).unwrap().split('"').next().unwrap();
    let across: Vec<f64> =
        spots.split_whitespace().map(|spot| spot.split_once(',').unwrap().0.parse().unwrap()).collect();
    assert!((across[0] - (left + right) / 2.0).abs() <= 1.0 && (across[1] - right).abs() <= 1.0, "{across:?}");
    assert!(drawn.caption.concat().contains("The lines come from <b>.geojson.") && !drawn.text.contains("<b>.geojson"));
    let away = with(vec![line(&[(0.0, 0.0), (1.0, 1.0)])]);
    assert!(refused(&map, &away, MapFormat::Svg).contains("no line crosses the map, from longitude 7 to 8"));
    assert!(refused(&released("a,b", &PLANE), &away, MapFormat::Svg).contains("--lon COLUMN --lat COLUMN"));
    assert!(refused(&map, &middle, MapFormat::GeoJson).contains("--outline changes a drawing"));
}

/// Three sentences at most are shown at once; the others are in the page, too.
#[test]
fn a_page_says_three_sentences_at_once() {
    let drawn = draw_map(&released("a,b", &PLANE), &MapOptions::default(), MapFormat::Html).unwrap();
    let caption = drawn.text.split("<figcaption>").nth(1).unwrap().split("</figcaption>").next().unwrap();
    assert!((1..=3).contains(&caption.matches("<p>").count()), "{caption}");
    let folded = drawn.text.split("<details id=\"more\">").nth(1).unwrap().split("</details>").next().unwrap();
    assert_eq!(caption.matches("<p>").count() + folded.matches("<p>").count(), drawn.caption.len());
}

#[test]
fn points_that_make_no_picture_are_refused() {
    let plain = MapOptions::default();
    assert!(refused_plane(&["1,1"]).contains("same inputs"));
    assert!(refused_plane(&["0,0", "0,1", "0,1", "1,0"]).contains("two points have the same inputs"));
    assert!(refused_plane(&["0,x", "1,y"]).contains("input b is categorical"));
    let scattered: Vec<String> = (0..9).map(|i| format!("{i},{}", i * 7 % 9)).collect();
    let scattered: Vec<&str> = scattered.iter().map(String::as_str).collect();
    assert!(refused_plane(&scattered).contains("has 81 points, but there are 9"));
    let many: Vec<String> = (0..20_001).map(|i| format!("{},{}", i / 2, i % 2)).collect();
    assert!(refused_plane(&many.iter().map(String::as_str).collect::<Vec<_>>()).contains("at most 20000"));
    let plane = released("a,b", &PLANE);
    assert!(refused(&plane, &plain, MapFormat::GeoJson).contains("--lon COLUMN --lat COLUMN"));
    let named = MapOptions { longitude: Some("b".into()), latitude: Some("a".into()), ..plain.clone() };
    draw_map(&plane, &named, MapFormat::GeoJson).unwrap();
    let unknown = MapOptions { longitude: Some("c".into()), ..plain.clone() };
    assert!(refused(&plane, &unknown, MapFormat::GeoJson).contains("no input \"c\"; their inputs are a, b"));
    let negative = MapOptions { mask: Some(-1.0), ..plain };
    assert!(refused(&plane, &negative, MapFormat::Svg).contains("non-negative"));
}

fn sliced(slices: &[&str]) -> MapOptions {
    MapOptions { slices: slices.iter().map(|slice| slice.parse().unwrap()).collect(), ..MapOptions::default() }
}

#[test]
fn a_slice_leaves_a_picture_of_the_rest() {
    let cube = released("a,b,c", &["0,0,u", "0,1,u", "1,0,u", "1,1,u", "0,0,8", "0,1,8", "1,0,8", "1,1,8"]);
    assert!(refused(&cube, &sliced(&[]), MapFormat::Svg).contains("differ in a, b, c"));
    let html = draw_map(&cube, &sliced(&["c=8.0"]), MapFormat::Html).unwrap();
    assert!(html.points == 4 && html.text.contains("c = 8") && html.text.contains("<td>7</td>"));
    // A title of one's own does not take it away.
    let titled = MapOptions { title: Some("How long".to_owned()), ..sliced(&["c=8.0"]) };
    let said = draw_map(&cube, &titled, MapFormat::Svg).unwrap().caption;
    assert!(said.contains(&"Drawn at c = 8.".to_owned()), "{said:?}");
    assert_eq!(draw_map(&cube, &sliced(&["c=u", "a=1"]), MapFormat::Svg).unwrap().points, 2);
    assert!(refused(&cube, &sliced(&["c=9"]), MapFormat::Svg).contains("use one of u, 8"));
}

/// Coordinates whose differences are infinite, or too small to be cut into pixels, make a picture of no use, at once.
#[test]
fn numbers_beyond_reason_end() {
    for [low, high] in [["-1.7e308", "1.7e308"], ["0", "5e-324"], ["1e15", "1000000000000000.1"]] {
        let rows = [[low, low], [low, high], [high, low], [high, high]].map(|[x, y]| format!("{x},{y}"));
        let map = released("a,b", &rows.each_ref().map(String::as_str));
        for (format, mask) in [(MapFormat::Svg, 0.0), (MapFormat::Html, 1e308)] {
            let options = MapOptions { mask: Some(mask), ..MapOptions::default() };
            assert_eq!(draw_map(&map, &options, format).unwrap().points, 4);
        }
        let line = released("a", &[low, high]);
        draw_map(&line, &MapOptions::default(), MapFormat::Html).unwrap();
    }
    let csv = "a,private_mean,gp_sd,noise_sd,low,high\n0,-1.7e308,1,1.7e308,-1.7e308,1.7e308\n1,1.7e308,1,1e308,0,1\n";
    let far = PredictionsFileContents::parse("p.csv".as_ref(), csv, CertificateSummary::without_certificate()).unwrap();
    draw_map(&far, &MapOptions::default(), MapFormat::Svg).unwrap();
}

/// A target named after its unit does not repeat the unit.
#[test]
fn a_unit_is_said_once() {
    let mut map = released("x", &["0", "1", "2"]);
    map.statement.target = Some("minutes".to_owned());
    let title = |unit: &str| {
        let options = MapOptions { unit: Some(unit.to_owned()), ..MapOptions::default() };
        let text = draw_map(&map, &options, MapFormat::Svg).unwrap().text;
        text.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_owned()
    };
    assert_eq!(title("minutes"), "Column private_mean of minutes by x");
    assert_eq!(title("min"), "Column private_mean of minutes (min) by x");
}

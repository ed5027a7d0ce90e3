use super::*;
use dpgp_release::CertificateSummary;

/// A file with these inputs; the mean is a number of its own for each row.
fn released(names: &str, rows: &[&str]) -> ReleasedPredictions {
    let rows = rows
        .iter()
        .enumerate()
        .map(|(i, inputs)| format!("{inputs},{i},1,0.5,{},{}\n", i as f64 - 2.2, i as f64 + 2.2));
    let csv = format!("{names},private_mean,gp_sd,noise_sd,low,high\n{}", rows.collect::<String>());
    ReleasedPredictions::parse("p.csv".as_ref(), &csv, CertificateSummary::none()).unwrap()
}

fn refused(released: &ReleasedPredictions, options: &MapOptions, format: MapFormat) -> String {
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
    assert!(
        masked.caption.concat().contains("or noise_sd above 0.4); 6 of 6 cells (100 %)"),
        "{:?}",
        masked.caption
    );
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
        let ring: Vec<[f64; 2]> =
            serde_json::from_value(feature["geometry"]["coordinates"][0].clone()).unwrap();
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

#[test]
fn points_that_make_no_picture_are_refused() {
    let plain = MapOptions::default();
    assert!(refused_plane(&["1,1"]).contains("same inputs"));
    assert!(refused_plane(&["0,0", "0,1", "0,1", "1,0"]).contains("two points have the same inputs"));
    assert!(refused_plane(&["0,x", "1,y"]).contains("input b holds words"));
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
    MapOptions {
        slices: slices.iter().map(|slice| slice.parse().unwrap()).collect(),
        ..MapOptions::default()
    }
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
    let far = ReleasedPredictions::parse("p.csv".as_ref(), csv, CertificateSummary::none()).unwrap();
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

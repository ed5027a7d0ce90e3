//! Fewer and shorter marks for the same strokes.

const OPEN: &str = "<polyline ";
const POINTS: &str = " points=\"";
const CLOSE: &str = "\"/>";
const OPACITY: &str = "opacity=";

/// A polyline of a figure.
struct Stroke<'a> {
    /// Its attributes but for its points.
    style: &'a str,
    points: &'a str,
}

/// A figure whose neighbouring polylines of one style are one path: a dashed line is drawn as hundreds of them. Those that one
/// sees through stay apart, since strokes of one path do not darken each other where they cross: they share their style in a group,
/// whose opacity is that of each stroke.
pub(super) fn joined(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find(OPEN) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some((first, after)) = stroke(rest) else {
            text.push_str(OPEN);
            rest = &rest[OPEN.len()..];
            continue;
        };
        rest = after;
        let mut strokes = vec![first];
        while let Some((next, after)) = stroke(rest).filter(|(next, _)| joins(&strokes[0], next)) {
            strokes.push(next);
            rest = after;
        }
        push(&mut text, &strokes);
    }
    text.push_str(rest);
    text
}

fn joins(first: &Stroke<'_>, next: &Stroke<'_>) -> bool {
    first.style == next.style
}

/// The polyline that a text begins with, and what follows it.
fn stroke(text: &str) -> Option<(Stroke<'_>, &str)> {
    let (mark, after) = text.strip_prefix(OPEN)?.split_once(CLOSE)?;
    let (style, points) = mark.split_once(POINTS)?;
    Some((Stroke { style, points }, after))
}

fn push(text: &mut String, strokes: &[Stroke<'_>]) {
    let style = strokes[0].style;
    if strokes.len() > 1 && style.contains(OPACITY) {
        text.push_str(&format!("<g {}>", style.replace(OPACITY, "stroke-opacity=")));
        strokes
            .iter()
            .for_each(|stroke| text.push_str(&format!("<path d=\"{}{CLOSE}", steps(stroke.points))));
        return text.push_str("</g>");
    }
    text.push_str(&format!("<path {style} d=\""));
    strokes.iter().for_each(|stroke| text.push_str(&steps(stroke.points)));
    text.push_str(CLOSE);
}

/// The points of a polyline as a path of steps from each to the next, which repeat themselves where places do not.
fn steps(points: &str) -> String {
    let places: Option<Vec<[i64; 2]>> = points.split_whitespace().map(place).collect();
    let Some([first, rest @ ..]) = places.as_deref() else { return format!("M{points}") };
    let mut path = format!("M{} {}", first[0], first[1]);
    let mut before = first;
    for (i, next) in rest.iter().enumerate() {
        let apart = if i == 0 { "l" } else { " " };
        path.push_str(&format!("{apart}{} {}", next[0] - before[0], next[1] - before[1]));
        before = next;
    }
    path
}

/// A point with integer coordinates.
fn place(point: &str) -> Option<[i64; 2]> {
    let (x, y) = point.split_once(',')?;
    Some([x.parse().ok()?, y.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_style_are_one_path() {
        let svg = "<svg><polyline stroke=\"#005\" points=\"1,2 3,4\"/><polyline stroke=\"#005\" points=\"5,6 7,8\"/><text/>\
                   <polyline stroke=\"#005\" points=\"1,2 3,4\"/><polyline stroke=\"#006\" points=\"1,2 3,4\"/></svg>";
        let expected = "<svg><path stroke=\"#005\" d=\"M1 2l2 2M5 6l2 2\"/><text/>\
                        <path stroke=\"#005\" d=\"M1 2l2 2\"/><path stroke=\"#006\" d=\"M1 2l2 2\"/></svg>";
        assert_eq!(joined(svg), expected);
    }

    #[test]
    fn a_stroke_is_its_first_place_and_its_steps() {
        assert_eq!(steps("10,20 13,15 13,16 "), "M10 20l3 -5 0 1");
        assert_eq!(steps("10,20"), "M10 20");
        assert_eq!(steps("1.5,2 3,4"), "M1.5,2 3,4", "a path of places, too");
        assert_eq!(steps(""), "M");
    }

    #[test]
    fn strokes_that_one_sees_through_stay_apart() {
        let svg =
            "<polyline opacity=\"0.7\" points=\"1,2 3,4\"/><polyline opacity=\"0.7\" points=\"5,6 7,8\"/>";
        let grouped = "<g stroke-opacity=\"0.7\"><path d=\"M1 2l2 2\"/><path d=\"M5 6l2 2\"/></g>";
        assert_eq!(joined(svg), grouped);
        assert_eq!(joined("<polyline class=\"a\"/><polyline "), "<polyline class=\"a\"/><polyline ");
    }
}

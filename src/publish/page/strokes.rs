//! Fewer marks for the same strokes.

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
    if let [Stroke { style, points }] = strokes {
        return text.push_str(&format!("{OPEN}{style}{POINTS}{points}{CLOSE}"));
    }
    if strokes[0].style.contains(OPACITY) {
        text.push_str(&format!("<g {}>", strokes[0].style.replace(OPACITY, "stroke-opacity=")));
        strokes
            .iter()
            .for_each(|stroke| text.push_str(&format!("<polyline points=\"{}{CLOSE}", stroke.points)));
        return text.push_str("</g>");
    }
    text.push_str(&format!("<path {} d=\"", strokes[0].style));
    strokes.iter().for_each(|stroke| text.extend(["M", stroke.points]));
    text.push_str(CLOSE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_style_are_one_path() {
        let svg = "<svg><polyline stroke=\"#005\" points=\"1,2 3,4\"/><polyline stroke=\"#005\" points=\"5,6 7,8\"/><text/>\
                   <polyline stroke=\"#005\" points=\"1,2 3,4\"/><polyline stroke=\"#006\" points=\"1,2 3,4\"/></svg>";
        let expected = "<svg><path stroke=\"#005\" d=\"M1,2 3,4M5,6 7,8\"/><text/>\
                        <polyline stroke=\"#005\" points=\"1,2 3,4\"/><polyline stroke=\"#006\" points=\"1,2 3,4\"/></svg>";
        assert_eq!(joined(svg), expected);
    }

    #[test]
    fn strokes_that_one_sees_through_stay_apart() {
        let svg =
            "<polyline opacity=\"0.7\" points=\"1,2 3,4\"/><polyline opacity=\"0.7\" points=\"5,6 7,8\"/>";
        let grouped =
            "<g stroke-opacity=\"0.7\"><polyline points=\"1,2 3,4\"/><polyline points=\"5,6 7,8\"/></g>";
        assert_eq!(joined(svg), grouped);
        assert_eq!(joined("<polyline class=\"a\"/><polyline "), "<polyline class=\"a\"/><polyline ");
    }
}

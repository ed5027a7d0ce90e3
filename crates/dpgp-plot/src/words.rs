//! A figure in words, for who hears it: SVG's `title` and `desc`.

use super::picture::{Panel, Picture};
use dpgp_data::shown_line;

/// The elements that name and describe a picture, the first of an SVG text; none without a title.
pub(super) fn described(svg: String, title: &str, picture: &Picture, caption: &[String]) -> String {
    if title.is_empty() {
        return svg;
    }
    let words = format!(
        "<title>{}</title>\n<desc>{}</desc>\n",
        escaped(title),
        escaped(&description(picture, caption))
    );
    match svg.split_once('\n') {
        Some((root, marks)) => format!("{root}\n{words}{marks}"),
        None => svg,
    }
}

/// What the axes of each panel are, what its marks mean, and the caption.
fn description(picture: &Picture, caption: &[String]) -> String {
    let mut sentences: Vec<String> = picture.panels.iter().flat_map(axes).collect();
    let meanings: Vec<&str> =
        picture.legend.iter().map(|entry| entry.text.as_str()).filter(|text| !text.is_empty()).collect();
    if !meanings.is_empty() {
        sentences.push(format!("Shown: {}", meanings.join("; ")));
    }
    let sentences = sentences.iter().map(|sentence| format!("{sentence}.")).chain(caption.iter().cloned());
    sentences.collect::<Vec<_>>().join(" ")
}

/// "A: y by x", for each plot of a panel whose axes have names.
fn axes(panel: &Panel) -> Vec<String> {
    let x = panel.plots.iter().map(|plot| plot.x.label.as_str()).rfind(|label| !label.is_empty());
    let mut sentences = Vec::new();
    for plot in &panel.plots {
        let y = plot.y.label.as_str();
        let axes = match x {
            Some(x) if !y.is_empty() => format!("{y} by {x}"),
            Some(x) => format!("along {x}"),
            None => y.to_owned(),
        };
        let parts: Vec<&str> =
            [panel.title.as_str(), &axes].into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            sentences.push(parts.join(": "));
        }
    }
    sentences.dedup();
    sentences
}

/// A text as the contents of an element.
fn escaped(text: &str) -> String {
    shown_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, Plot, Scale, Side, Swatch, render};
    use super::*;

    fn picture() -> Picture {
        let [x, y, bare] = ["x", "y < 1", ""].map(|label| Side::values(Scale::between(0.0, 1.0), label));
        let panels = vec![
            Panel::new("(A) a", Plot::new(x.clone(), y, Vec::new())),
            Panel::new("", Plot::new(x, bare, Vec::new())),
        ];
        let legend = vec![Swatch::None.means("mean & sd"), Swatch::None.means("")];
        Picture { legend, layout: Layout::new(100.0), panels }
    }

    #[test]
    fn axes_and_legend_are_told() {
        assert_eq!(description(&picture(), &[]), "(A) a: y < 1 by x. along x. Shown: mean & sd.");
    }

    #[test]
    fn words_come_first_in_the_sheet_and_are_escaped() {
        let svg = render("a < b", &picture(), &["n: 3 & more.".to_owned()]).unwrap();
        let (root, rest) = svg.split_once('\n').unwrap();
        assert!(root.starts_with("<svg ") && root.ends_with('>'));
        assert!(rest.starts_with("<title>a &lt; b</title>\n<desc>(A) a: y &lt; 1 by x. along x."), "{rest}");
        assert!(!render("", &picture(), &[]).unwrap().contains("<title>"));
    }
}

//! A map as a drawing.

use minijinja::HtmlEscape;

use super::MapError;
use super::picture::picture;
use super::released_map::ReleasedMap;
use dpgp_data::shown_line;
use dpgp_plot::{Rendered, render_captioned};

/// Cells meet without seams; on a page its style says so.
const CRISP: &str = "<style>.cells polygon { shape-rendering: crispEdges }</style>\n";

/// A file of its own: with a title and a description for those who do not see it, and the caption below.
pub(super) fn file(map: &ReleasedMap<'_>, caption: &[String]) -> Result<String, MapError> {
    let Rendered { svg, .. } = render_captioned(&map.title(), &picture(map), caption)?;
    let (title, about) = (map.title(), caption.join(" "));
    let about = shown_line(&about);
    let head = format!("<title>{}</title>\n<desc>{}</desc>\n", HtmlEscape(&title), HtmlEscape(&about));
    Ok(marked(map, &svg).replacen('>', &format!(">\n{head}{CRISP}"), 1))
}

/// The drawing on a page, which has title and caption itself.
pub(super) fn drawing(map: &ReleasedMap<'_>) -> Result<Rendered, MapError> {
    let rendered = render_captioned("", &picture(map), &[])?;
    let name = format!("<svg aria-label=\"{}\" ", HtmlEscape(&map.title()));
    Ok(Rendered { svg: marked(map, &rendered.svg).replacen("<svg ", &name, 1), ..rendered })
}

fn marked(map: &ReleasedMap<'_>, svg: &str) -> String {
    let class = if map.y.is_some() { "cells" } else { "line" };
    svg.replacen("<svg ", &format!("<svg role=\"img\" class=\"{class}\" "), 1)
}

//! A source in which each place asks which change is on.

use std::ops::Range;

use crate::site::{Change, Kind, Site};

/// The source with its places woven in. Comments mark where the text of a change begins and ends: what does not compile there is of
/// that change.
pub fn woven(source: &str, sites: &[Site]) -> String {
    Loom { source, sites }.text(0..source.len(), 0)
}

struct Loom<'a> {
    source: &'a str,
    /// Outer before inner, from left to right.
    sites: &'a [Site],
}

impl Loom<'_> {
    /// A part of the source, with those places from `first` on that lie in it.
    fn text(&self, part: Range<usize>, first: usize) -> String {
        let mut text = String::new();
        let mut done = part.start;
        for (i, site) in self.sites.iter().enumerate().skip(first) {
            if site.range.start >= part.end && !(site.range.is_empty() && site.range.start == part.end) {
                break;
            }
            if site.range.start < done || site.range.end > part.end {
                continue;
            }
            text += &self.source[done..site.range.start];
            text += &self.site(site, i);
            done = site.range.end;
        }
        text + &self.source[done..part.end]
    }

    fn site(&self, site: &Site, index: usize) -> String {
        let inner = |part: &Range<usize>| self.text(part.clone(), index + 1);
        match &site.kind {
            Kind::Body => site
                .changes
                .iter()
                .map(|change| marked(change, &format!("return {};", change.text)))
                .collect(),
            Kind::Binary { left, right } => {
                let [l, r] = [left, right].map(|part| &self.source[part.clone()]);
                let between = &self.source[left.end..right.start];
                let as_it_was = format!("{}{between}{}", inner(left), inner(right));
                chosen(site, |change| format!("({l}) {} ({r})", change.text), &as_it_was)
            }
            Kind::Unary { operand } => {
                let before = &self.source[site.range.start..operand.start];
                let as_it_was = format!("{before}{}", inner(operand));
                chosen(site, |_| self.source[operand.clone()].to_string(), &as_it_was)
            }
            Kind::Guard => chosen(site, |change| change.text.clone(), &inner(&site.range)),
            Kind::Arm => {
                let change = &site.changes[0];
                format!(" if /*<{0}*/!crate::mutant::on({0})/*>{0}*/", change.id)
            }
        }
    }
}

fn chosen(site: &Site, text: impl Fn(&Change) -> String, as_it_was: &str) -> String {
    let changes =
        site.changes.iter().map(|change| marked(change, &text(change)) + " else ").collect::<String>();
    // In brackets: an `if` at the start of a statement would end there.
    format!("({changes}{{ ({as_it_was}) }})")
}

fn marked(change: &Change, text: &str) -> String {
    format!("/*<{0}*/if crate::mutant::on({0}) {{ {text} }}/*>{0}*/", change.id)
}

#[cfg(test)]
mod tests {
    use crate::find::sites;

    use super::woven;

    #[test]
    fn each_place_asks_and_keeps_what_is_inside() {
        let source = "fn f(a: f64, b: f64) -> f64 { a + -b }";
        let mut sites = sites(source).unwrap();
        let changes = sites.iter_mut().flat_map(|site| &mut site.changes);
        changes.zip(1..).for_each(|(change, id)| change.id = id);
        let woven = woven(source, &sites);
        let plain = woven
            .split("/*")
            .map(|piece| piece.split_once("*/").map_or(piece, |(_, after)| after))
            .collect::<String>();
        assert_eq!(
            plain.replace("crate::mutant::", ""),
            "fn f(a: f64, b: f64) -> f64 {if on(1) { return 0.0; }if on(2) { return 1.0; }if on(3) { return -1.0; } \
             (if on(4) { (a) - (-b) } else if on(5) { (a) * (-b) } else { (a + (if on(6) { b } else { (-b) })) }) }"
        );
    }
}

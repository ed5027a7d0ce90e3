//! Traces of an optimisation: how far each element is from the optimum after each step.

use plotters::style::Color;

use super::axis::Axis;
use super::canvas::Canvas;
use super::clip::Rect;
use super::curve::pairs;
use super::figure::FigureError;
use super::legend::Sample;
use super::palette::COLOURS;
use super::panels::{Layout, groups, lettered};
use super::pen::Pen;
use super::plot::Plot;
use super::report::Report;
use crate::spec::TracesFigure;
use crate::task::Frame;

const HEIGHT: f64 = 380.0;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &TracesFigure) -> Result<String, FigureError> {
    let mut panels = groups(report, setting.panels.as_deref(), None);
    panels.retain(|group| report.frames_of(group.cells[0], "trace").next().is_some());
    let (x, y) = axes(report, setting);
    let paint = |canvas: &Canvas<'_>, i: usize, rect: Rect| {
        let plot = Plot { canvas, rect, x, y };
        plot.axes(&lettered(&panels[i].title, i, panels.len()), &setting.x_label, &setting.label)?;
        report.frames_of(panels[i].cells[0], "trace").try_for_each(|frame| traces(&plot, frame))
    };
    let legend =
        vec![(Sample::Line(Pen::new(COLOURS[0].mix(0.7), 1.0)), "one line for each element".to_owned())];
    Layout::new(panels.len(), None, HEIGHT).draw(&report.experiment.meta.title, legend, paint)
}

/// The steps, and the differences on a logarithmic axis; zero lies below it.
fn axes(report: &Report<'_>, setting: &TracesFigure) -> (Axis, Axis) {
    let frames = || report.frames.iter().map(|(_, frame)| frame).filter(|frame| frame.name == "trace");
    let steps = frames().flat_map(|frame| frame.column("iteration")).copied();
    let differences = frames().flat_map(|frame| frame.columns_named("element")).flatten().copied();
    let y = Axis::of(true, differences.filter(|difference| *difference > 0.0));
    (Axis::tight(steps), y.within(setting.least, None))
}

fn traces(plot: &Plot<'_, '_>, frame: &Frame) -> Result<(), FigureError> {
    let steps = frame.column("iteration");
    frame.columns_named("element").try_for_each(|element| plot.line(pairs(steps, element), pen()))
}

fn pen() -> Pen {
    Pen::new(COLOURS[0].mix(0.2), 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{experiment, lines_of, normals, svg};
    use crate::task::Frame;

    const FIGURE: &str = "[figure.traces]\npanels = \"method\"\nx_label = \"iteration\"\n\
                          label = \"absolute difference from the optimum\"\n";

    fn trace(elements: usize, floor: f64) -> Frame {
        let steps = 0..=12u8;
        let frame = Frame::new("trace").with("iteration", steps.clone().map(f64::from));
        let noise: Vec<f64> = normals(elements * 13).collect();
        (0..elements).fold(frame, |frame, i| {
            let noise = &noise[13 * i..];
            let at = |step: u8| {
                let left = noise[0].abs() * 0.12f64.powi(i32::from(step));
                if step == 12 && floor == 0.0 { 0.0 } else { left + floor * noise[usize::from(step)].abs() }
            };
            frame.with(format!("element{}", i + 1), steps.clone().map(at))
        })
    }

    #[test]
    fn each_element_is_a_line() {
        let frames = || vec![(0, trace(64, 0.0)), (1, trace(64, 0.3))];
        let all = svg("traces", &experiment(&["without-privacy", "private"], FIGURE), frames());
        assert_eq!(lines_of(&all, "#005FAA"), 2 * 64 + 1);
        let cut = format!("{FIGURE}least = 1e-4\n");
        let cut = svg("traces-cut", &experiment(&["without-privacy", "private"], &cut), frames());
        assert!(cut.contains("\n0.0001\n") && !cut.contains("\n1e-6\n"));
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = experiment(&["a", "b"], FIGURE);
        svg("traces-empty", &experiment, Vec::new());
        let optimum = Frame::new("trace").with("iteration", [0.0]).with("element1", [0.0]);
        svg("traces-bare", &experiment, vec![(0, Frame::new("trace")), (1, optimum)]);
    }
}

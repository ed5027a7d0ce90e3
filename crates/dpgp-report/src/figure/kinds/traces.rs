//! Traces of an optimisation: the distance of each element from the optimum after each step.

use super::*;
use dpgp_spec::TracesFigure;

const TRACE: &str = "trace";
const HEIGHT: f64 = 380.0;
const ELEMENT: Pen = Pen::new(COLOURS[0].with_opacity(0.2), 1.0);

frame! {
    /// The frame `trace`: absolute differences from the optimum after each step.
    Trace {
        needs iteration = "iteration";
        numbered elements = "element";
    }
}

impl PictureBuilder for TracesFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let traces: Vec<Trace<'_>> = read_frames(report, None, TRACE, Trace::from_frame_columns)?;
        let x = Scale::tight(traces.iter().flat_map(|trace| trace.iteration).copied());
        let differences = traces.iter().flat_map(|trace| &trace.elements).copied().flatten().copied();
        // Zero lies below a logarithmic scale.
        let y = Scale::covering(true, differences.filter(|value| *value > 0.0)).with_given_ends(self.least, None);
        let mut panels = Vec::new();
        for group in group_cells_with_frame_into_panels(report, self.panels.as_deref(), TRACE) {
            let mut marks = Vec::new();
            for trace in read_frames(report, Some(group.first_cell()), TRACE, Trace::from_frame_columns)? {
                let lines = trace.elements.iter().map(|element| points_from_columns(trace.iteration, element));
                marks.extend(lines.map(|line| Mark::Line(line, ELEMENT)));
            }
            let (x, y) = (PlotAxis::with_numbers(x, &self.x_label), PlotAxis::with_grid_lines(y, &self.label));
            panels.push(Panel::new(group.title, Plot::new(x, y, marks)));
        }
        let legend =
            vec![Swatch::Line(Pen::new(COLOURS[0].with_opacity(0.7), 1.0)).with_meaning("one line for each element")];
        Ok(Picture { legend, layout: Layout::new(HEIGHT), panels }.with_panel_letters())
    }
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{example_table, experiment, lines_of, svg};

    const FIGURE: &str = "[figure.traces]\npanels = \"method\"\nx_label = \"iteration\"\n\
                          label = \"absolute difference from the optimum\"\n";

    #[test]
    fn each_element_is_a_line() {
        let rows = [[0.0, 1.0, 0.5], [1.0, 1e-3, 1e-4], [2.0, 1e-7, 0.0]];
        let frames = || [0, 1].map(|cell| (cell, example_table("trace iteration element1 element2", &rows))).to_vec();
        let all = svg("traces", &experiment(&["without-privacy", "private"], FIGURE), frames());
        assert_eq!(lines_of(&all, "#005FAA"), 2 * 2 + 1);
        let cut = format!("{FIGURE}least = 1e-4\n");
        let cut = svg("traces-cut", &experiment(&["without-privacy", "private"], &cut), frames());
        assert!(cut.contains("\n0.0001\n") && !cut.contains("\n1e-6\n"));
    }

    #[test]
    fn an_optimum_lies_below_the_scale() {
        let optimum = example_table("trace iteration element1", &[[0.0, 0.0]]);
        svg("traces-optimum", &experiment(&["a", "b"], FIGURE), vec![(1, optimum)]);
    }
}

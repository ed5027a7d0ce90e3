//! A function of two inputs: contours of its mean, and discs that fade with the noise.

use std::iter::{repeat, zip};

use super::*;
use dpgp_spec::MapFigure;

/// The frames that a panel shows.
const MAP: &str = "map";
const SURFACE: &str = "surface";
const DATA: &str = "data";
const INDUCING: &str = "inducing";

const HEIGHT: f64 = 400.0;
const CONTOUR: Pen = Pen::new(DARK, 1.25);
const CROSS: Pen = Pen::new(COLOURS[1], 2.5);
const ARM: f64 = 5.0;
/// The radius with which neighbours of the grid just do not touch, and that of discs without a grid in pixels.
const FULL: f64 = 0.48;
const OFF_GRID: f64 = 6.0;
/// Steps of the fading that the legend shows.
const FADING_STEPS: usize = 4;

frame! {
    /// The frame `map`: the mean at some places, and the standard deviation of its noise.
    Map {
        needs x = "x1", y = "x2", mean = "mean";
        may noise_sd = "noise-sd";
        passes "gp-sd", "draw";
    }
}

impl Map<'_> {
    /// The standard deviation of the noise at each place.
    fn noise_sds(&self) -> impl Iterator<Item = f64> {
        self.noise_sd.iter().copied().chain(repeat(0.0))
    }

    /// Its grid, if it has one.
    fn grid(&self) -> Option<Surface> {
        Surface::new(self.x, self.y, self.mean)
    }
}

/// The frame `surface`: a finer grid for the contours.
fn read_surface(columns: &mut FrameColumns<'_>) -> Result<Option<Surface>, FigureError> {
    let (x1, x2) = (columns.require_column("x1")?, columns.require_column("x2")?);
    Ok(Surface::new(x1, x2, columns.require_column("mean")?))
}

/// The frames `data` and `inducing`.
fn read_data_or_inducing_points(columns: &mut FrameColumns<'_>) -> Result<Vec<PlotPoint>, FigureError> {
    columns.ignore_columns(&["y"]);
    Ok(points_from_columns(columns.require_column("x1")?, columns.require_column("x2")?))
}

impl PictureBuilder for MapFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let maps = read_frames(report, None, MAP, Map::from_frame_columns)?;
        let x = Scale::tight(maps.iter().flat_map(|map| map.x).copied()).with_default_margin();
        let y = Scale::tight(maps.iter().flat_map(|map| map.y).copied()).with_default_margin();
        let look = MapStyle::new(self, &maps);
        let mut panels = Vec::new();
        for group in group_cells_with_frame_into_panels(report, self.panels.as_deref(), MAP) {
            let (x, y) = (PlotAxis::with_numbers(x, &self.x_label), PlotAxis::with_numbers(y, &self.y_label));
            panels.push(Panel::new(&group.title, Plot::new(x, y, look.marks(report, group.first_cell())?)));
        }
        Ok(Picture { legend: look.legend(report)?, layout: Layout::new(HEIGHT), panels }.with_panel_letters())
    }
}

/// The size, colour and fading of discs in all panels.
struct MapStyle<'a> {
    setting: &'a MapFigure,
    least: f64,
    largest: f64,
}

impl<'a> MapStyle<'a> {
    fn new(setting: &'a MapFigure, maps: &[Map<'_>]) -> Self {
        let found = min_max(maps.iter().flat_map(|map| map.mean).copied());
        let [least, most] = found.unwrap_or([f64::MIN_POSITIVE; 2]);
        let largest = setting.largest.unwrap_or(most.max(f64::MIN_POSITIVE));
        Self { setting, least: least.min(largest), largest }
    }

    /// Discs, data, inducing inputs and contours of the finest grid.
    fn marks(&self, report: &Report<'_>, cell: usize) -> Result<Vec<Mark>, FigureError> {
        let maps = read_frames(report, Some(cell), MAP, Map::from_frame_columns)?;
        let mut marks: Vec<Mark> = maps.iter().flat_map(|map| self.disc_or_tile_marks(map)).collect();
        let data = read_frames(report, Some(cell), DATA, read_data_or_inducing_points)?;
        marks.extend(data.iter().map(|data| Mark::dots(data, 1.4, BLACK)));
        let inducing = read_frames(report, Some(cell), INDUCING, read_data_or_inducing_points)?;
        marks.extend(inducing.into_iter().map(|spots| Mark::Strokes(spots, MarkShape::Times, ARM, CROSS)));
        // Last, so that nothing hides the levels that are written on them.
        let fine = read_frames(report, Some(cell), SURFACE, read_surface)?;
        let surface = fine.into_iter().chain(maps.iter().map(Map::grid)).flatten().next();
        marks.extend(surface.map(|surface| Mark::Contours(surface, self.setting.step, CONTOUR)));
        Ok(marks)
    }

    /// A disc or a tile for each place.
    fn disc_or_tile_marks(&self, map: &Map<'_>) -> Vec<Mark> {
        match map.grid().filter(|_| self.is_tiled()) {
            Some(grid) => self.tiles(map, grid.cell_size()),
            None => vec![self.discs(map)],
        }
    }

    fn is_tiled(&self) -> bool {
        self.setting.tiles && self.setting.colours
    }

    fn tiles(&self, map: &Map<'_>, cell: PlotPoint) -> Vec<Mark> {
        let (x, y) = (cell.x / 2.0, cell.y / 2.0);
        let places = zip(points_from_columns(map.x, map.y), map.mean).zip(map.noise_sds());
        let tiles = places
            .map(|((at, mean), sd)| Mark::Tile([at.moved(-x, -y), at.moved(x, y)], self.colour(*mean, sd).on_white()));
        tiles.collect()
    }

    fn discs(&self, map: &Map<'_>) -> Mark {
        let (full, unit) = match map.grid() {
            Some(grid) => (FULL, DiscUnit::Cell(grid.cell_size())),
            None => (OFF_GRID, DiscUnit::Pixel),
        };
        let discs =
            zip(points_from_columns(map.x, map.y), map.mean).zip(map.noise_sds()).map(|((at, mean), sd)| Disc {
                at,
                offset: PlotPoint::new(0.0, 0.0),
                radius: full * self.relative_radius(*mean),
                colour: self.colour(*mean, sd),
            });
        Mark::Discs(discs.collect(), unit)
    }

    /// The radius as a part of the full one: by the mean, unless colours show that.
    fn relative_radius(&self, mean: f64) -> f64 {
        if self.setting.colours { 1.0 } else { (mean / self.largest).clamp(0.0, 1.0) }
    }

    fn colour(&self, mean: f64, noise_sd: f64) -> Colour {
        let span = self.largest - self.least;
        let fraction = if span > 0.0 { (mean - self.least) / span } else { 0.0 };
        let colour = if self.setting.colours { ramp_colour(fraction) } else { COLOURS[0] };
        colour.with_opacity((1.0 - noise_sd / self.setting.vanish).clamp(0.0, 1.0))
    }

    fn legend(&self, report: &Report<'_>) -> Result<Vec<LegendEntry>, FigureError> {
        let mut entries = self.disc_legend();
        entries.push(
            Swatch::Line(CONTOUR)
                .with_meaning(format!("contours, {} apart", format_four_digits_trimmed(self.setting.step))),
        );
        entries.extend((1..FADING_STEPS).map(|step| self.fading_legend(step)));
        if read_frames(report, None, DATA, read_data_or_inducing_points)?.iter().any(|spots| !spots.is_empty()) {
            entries.push(Swatch::Disc(2.0, BLACK).with_meaning("training inputs"));
        }
        if read_frames(report, None, INDUCING, read_data_or_inducing_points)?.iter().any(|spots| !spots.is_empty()) {
            entries.push(Swatch::Mark(MarkShape::Times, ARM, CROSS).with_meaning("inducing inputs"));
        }
        Ok(entries)
    }

    fn disc_legend(&self) -> Vec<LegendEntry> {
        if !self.setting.colours {
            let text = format!(
                "{} (size of the discs), at most {}",
                self.setting.label,
                format_four_digits_trimmed(self.largest)
            );
            return vec![Swatch::Disc(8.0, COLOURS[0]).with_meaning(text)];
        }
        let [least, most] = [self.least, self.largest].map(format_four_digits_trimmed);
        vec![Swatch::Bar.with_meaning(format!("{}, {least} to {most}", self.setting.label))]
    }

    /// The sample of a disc at a fraction of the noise at which discs vanish.
    fn fading_legend(&self, step: usize) -> LegendEntry {
        let sd = self.setting.vanish * step as f64 / FADING_STEPS as f64;
        let text = match step {
            1 => format!("noise sd {}", format_four_digits_trimmed(sd)),
            _ if step + 1 < FADING_STEPS => format_four_digits_trimmed(sd),
            _ => {
                format!("{} (invisible from {} up)", format_four_digits_trimmed(sd), format_exact(self.setting.vanish))
            }
        };
        let colour = self.colour(0.5 * (self.least + self.largest), sd);
        let swatch = if self.is_tiled() { Swatch::Area(colour) } else { Swatch::Disc(8.0, colour) };
        swatch.with_meaning(text)
    }
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{count, example_table, experiment, lines_of, svg};
    use dpgp_task::FigureTable;

    const FIGURE: &str = "[figure.map]\nx_label = \"age (years)\"\ny_label = \"weight (kg)\"\nlabel = \"height (cm)\"\n\
                          step = 20.0\nvanish = 40.0\n";

    /// A plane from 41 to 141 on a grid of nine by nine; the noise grows beside the diagonal.
    fn plane() -> Vec<[f64; 4]> {
        let places = (0..81).map(|i| (10.0 * f64::from(i / 9), 7.5 * f64::from(i % 9)));
        places.map(|(x, y)| [x, y, 41.0 + 0.5 * x + y, f64::abs(x - y)]).collect()
    }

    fn grid(name: &str) -> FigureTable {
        example_table(&format!("{name} x1 x2 mean noise-sd"), &plane())
    }

    #[test]
    fn discs_contours_and_data() {
        let fine = grid("surface");
        let fine = FigureTable { columns: fine.columns[..3].to_vec(), ..fine };
        let data = example_table("data x1 x2 y", &[[10.0, 20.0, 60.0], [70.0, 50.0, 120.0]]);
        let inducing = example_table("inducing x1 x2", &[[40.0, 30.0]]);
        let frames = vec![(0, grid("map")), (0, fine), (0, data), (1, grid("map")), (1, inducing)];
        let svg = svg("map", &experiment(&["standard", "sparse"], FIGURE), frames);
        let visible = plane().iter().filter(|row| row[3] < 40.0).count();
        assert!((40..80).contains(&visible), "some vanish: {visible}");
        assert_eq!(count(&svg, "circle"), 2 * visible + 2 + 1 + 3 + 1, "discs, data and their samples");
        assert_eq!(lines_of(&svg, "#C85000"), 2 + 2, "inducing inputs and their sample");
        assert_eq!(lines_of(&svg, "#5A5A5A"), 2 * 5 + 1, "levels 60 to 140, and their sample");
        assert_eq!(svg.matches("\n120\n").count(), 2, "a level in each panel");
    }

    #[test]
    fn colours_show_the_mean() {
        let experiment = experiment(&["price"], &format!("{FIGURE}colours = true\nlargest = 200.0\n"));
        let svg = svg("map-colours", &experiment, vec![(0, grid("map"))]);
        let radii = svg.split(" r=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        assert_eq!(radii.collect::<std::collections::BTreeSet<_>>().len(), 2, "discs and samples");
        assert!(svg.contains("\nheight (cm), 41 to 200\n"));
    }

    #[test]
    fn coloured_places_of_a_grid_can_be_tiles() {
        let experiment = experiment(&["price"], &format!("{FIGURE}colours = true\ntiles = true\n"));
        let svg = svg("map-tiles", &experiment, vec![(0, grid("map"))]);
        assert_eq!((count(&svg, "polygon"), count(&svg, "circle")), (81, 0));
        assert!(!svg.contains("<polygon opacity=\"0"), "they cover what their neighbours share");
    }

    #[test]
    fn one_place_is_no_grid() {
        let one = example_table("map x1 x2 mean", &[[1.0, 1.0, 2.0]]);
        let svg = svg("map-one", &experiment(&["standard"], FIGURE), vec![(0, one)]);
        assert_eq!(count(&svg, "circle"), 1 + 1 + 3, "a disc and the legend");
    }
}

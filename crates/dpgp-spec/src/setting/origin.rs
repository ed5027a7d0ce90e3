//! The checks of where rows come from: the manifest must know the files, inline columns must fit each other.

use std::collections::BTreeMap;

use super::rules::{Checked, Fault, fail, range};
use super::{DataSetting, ImagesSetting, Problem, TripsSetting};
use dpgp_data::suggest::closest;
use dpgp_data::{Dataset, Format, Manifest, Separator};

/// Fails unless the character can stand between cells.
pub(super) fn separator(found: char) -> Checked {
    if Separator::may_be(found) {
        return Ok(());
    }
    fail("data.source.csv.separator", Problem::BadSeparator { found })
}

/// Fails unless every column of files without a header has a name of its own.
pub(super) fn column_names(names: &[String]) -> Checked {
    let path = "data.source.csv.columns";
    if names.is_empty() {
        return fail(path, Problem::Empty);
    }
    for (place, name) in names.iter().enumerate() {
        if name.trim().is_empty() {
            return fail(path, Problem::Shape(format!("column {} has no name", place + 1)));
        }
        // A name that is a number guesses a cell: that a first row holds the very names is told.
        if name.trim().parse::<f64>().is_ok() {
            return fail(
                path,
                Problem::Shape(format!(
                    "column {} is called {name:?}, which is a number; a name has a letter",
                    place + 1
                )),
            );
        }
        if names[..place].contains(name) {
            return fail(path, Problem::DuplicateValue { label: format!("{name:?}") });
        }
    }
    Ok(())
}

/// The dataset of a name, which must be in the manifest.
fn known<'a>(path: &str, name: &str, manifest: &'a Manifest) -> Result<&'a Dataset, Fault> {
    manifest.get(name).map_err(|_| {
        let hint =
            closest(name, manifest.names()).map(|n| format!(" (did you mean {n:?}?)")).unwrap_or_default();
        let known = manifest.names().collect::<Vec<_>>().join(", ");
        Fault::new(path, Problem::UnknownDataset { name: name.to_owned(), hint, known })
    })
}

/// Fails unless the dataset holds a table.
pub(super) fn table(name: &str, manifest: &Manifest) -> Checked {
    let path = "data.source.dataset";
    let mut files = known(path, name, manifest)?.files.iter();
    let problem = Problem::NotATable { name: name.to_owned() };
    if files.any(|file| matches!(file.format, Format::Csv(_))) { Ok(()) } else { fail(path, problem) }
}

pub(super) fn images(setting: &ImagesSetting, manifest: &Manifest) -> Checked {
    let dataset = known("data.source.images.dataset", &setting.dataset, manifest)?;
    for (key, name) in [("images", &setting.images), ("labels", &setting.labels)] {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format != Format::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why = format!(
                "is no file of arrays in dataset {:?}; its files are: {}",
                dataset.name,
                files.join(", ")
            );
            return fail(&format!("data.source.images.{key}"), Problem::Shape(why));
        }
    }
    Ok(())
}

pub(super) fn trips(setting: &TripsSetting, manifest: &Manifest) -> Checked {
    let dataset = known("data.source.trips.dataset", &setting.dataset, manifest)?;
    let files = [("journeys", setting.journeys.as_ref()), ("stations", setting.stations.as_ref())];
    for (key, name) in files.into_iter().filter_map(|(key, name)| Some((key, name?))) {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format == Format::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why =
                format!("is no table of dataset {:?}; its files are: {}", dataset.name, files.join(", "));
            return fail(&format!("data.source.trips.{key}"), Problem::Shape(why));
        }
    }
    Ok(())
}

pub(super) fn inline(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting) -> Checked {
    let rows = columns.get(&data.target).map_or(0, Vec::len);
    let inputs = data.inputs.iter().map(|column| ("data.inputs", column));
    let filters = data.filter.iter().map(|filter| ("data.filter", &filter.column));
    let person = data.person.iter().map(|column| ("data.person", column));
    let others = inputs.chain(filters).chain(person);
    for (place, column) in std::iter::once(("data.target", &data.target)).chain(others) {
        let path = format!("data.source.inline.{column}");
        match columns.get(column).map(Vec::len) {
            None => {
                let known = columns.keys().cloned().collect::<Vec<_>>().join(", ");
                return fail(place, Problem::UnknownInline { column: column.clone(), known });
            }
            Some(0) => return fail(&path, Problem::Empty),
            Some(found) if found != rows => {
                let target = data.target.clone();
                return fail(&path, Problem::InlineRows { target, wanted: rows, found });
            }
            Some(_) => {}
        }
    }
    for (column, values) in columns {
        let path = format!("data.source.inline.{column}");
        values.iter().try_for_each(|value| range(&path, value.is_finite(), "finite", *value))?;
    }
    Ok(())
}

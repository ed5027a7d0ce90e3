//! `dpgp._core`: the interface of the library for the Python package. It has no mechanism of its own. Sums, noise,
//! charges and posteriors are the functions of the command.

mod audit;
mod errors;
mod moments;
mod paid;
mod rows;
mod run;
mod surface;
mod targets;
mod together;
mod work;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<moments::MomentsCore>()?;
    module.add_class::<surface::ClassSurface>()?;
    module.add_class::<surface::Surface>()?;
    module.add_class::<targets::TargetsCore>()?;
    module.add_class::<targets::TargetsSurface>()?;
    module.add_function(wrap_pyfunction!(audit::audit_files, module)?)?;
    module.add_function(wrap_pyfunction!(surface::ensure_holds, module)?)?;
    module.add_function(wrap_pyfunction!(moments::sums_cells, module)?)?;
    module.add_function(wrap_pyfunction!(together::share_epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(together::release_sums_together, module)?)?;
    module.add_function(wrap_pyfunction!(together::release_targets_together, module)?)?;
    module.add_function(wrap_pyfunction!(run::command, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::results, module)?)?;
    module.add_function(wrap_pyfunction!(run::names, module)?)?;
    Ok(())
}

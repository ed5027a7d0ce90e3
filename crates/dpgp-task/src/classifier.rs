//! What tasks with a Laplace approximation need of a spec.

use dpgp_cloaking::ReleaseRecipe;
use dpgp_mechanisms::{Sections, cloaking};
use dpgp_spec::setting::rules::fail;
use dpgp_spec::setting::{Checked, Problem};

/// Checks the model of a classifier and what it releases, for the task at a path.
pub(super) fn check(path: &str, setting: &Sections) -> Checked {
    setting.model(path)?.classifies()?;
    if cloaking(&setting.privacy)?.release != ReleaseRecipe::Projection {
        let why = "classification releases a projection".to_owned();
        return fail("privacy.mechanism.cloaking.release", Problem::Shape(why));
    }
    Ok(())
}

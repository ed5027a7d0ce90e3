//! Two draws for one charge.

use dpgp::release::{DrawnRelease, ChargedRelease, PrivatePredictions, ReleaseError};

pub fn drawn<'a>(paid: ChargedRelease<'a, PrivatePredictions<'a>>) -> Result<[DrawnRelease<PrivatePredictions<'a>>; 2], ReleaseError> {
    let first = paid.draw()?;
    let second = paid.draw()?;
    Ok([first, second])
}

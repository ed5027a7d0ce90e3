//! Two draws for one charge.

use dpgp::release::{Charged, Paid, PrivatePredictions, ReleaseError};

pub fn drawn<'a>(paid: Paid<'a, PrivatePredictions<'a>>) -> Result<[Charged<PrivatePredictions<'a>>; 2], ReleaseError> {
    let first = paid.draw()?;
    let second = paid.draw()?;
    Ok([first, second])
}

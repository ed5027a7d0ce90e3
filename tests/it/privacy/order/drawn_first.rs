//! A draw without a charge.

use dpgp::release::{UnchargedRelease, PrivatePredictions, ReleaseError};

pub fn shown(offer: UnchargedRelease<'_, PrivatePredictions<'_>>) -> Result<String, ReleaseError> {
    Ok(offer.draw()?.predictions_csv()?)
}

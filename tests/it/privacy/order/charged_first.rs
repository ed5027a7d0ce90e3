//! A charge, then a draw, then the text.

use dpgp::release::{UnchargedRelease, PrivatePredictions, ReleaseError, ReleaseSpec};

pub fn shown(offer: UnchargedRelease<'_, PrivatePredictions<'_>>, subject: &ReleaseSpec<'_>) -> Result<String, ReleaseError> {
    Ok(offer.charge(None, subject, None)?.draw()?.predictions_csv()?)
}

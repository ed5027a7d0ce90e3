//! A draw without a charge.

use dpgp::release::{Offer, PrivatePredictions, ReleaseError};

pub fn shown(offer: Offer<'_, PrivatePredictions<'_>>) -> Result<String, ReleaseError> {
    Ok(offer.draw()?.csv()?)
}

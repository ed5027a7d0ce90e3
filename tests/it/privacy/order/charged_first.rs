//! A charge, then a draw, then the text.

use dpgp::release::{Offer, PrivatePredictions, ReleaseError, Subject};

pub fn shown(offer: Offer<'_, PrivatePredictions<'_>>, subject: &Subject<'_>) -> Result<String, ReleaseError> {
    Ok(offer.charge(None, subject, None)?.draw()?.csv()?)
}

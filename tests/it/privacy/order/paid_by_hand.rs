//! A proof of a charge that was none.

use dpgp::release::{UnchargedRelease, ChargedRelease, PrivatePredictions};

pub fn paid<'a>(offer: UnchargedRelease<'a, PrivatePredictions<'a>>) -> ChargedRelease<'a, PrivatePredictions<'a>> {
    ChargedRelease { offer, receipt: None, joint: None }
}

//! A proof of a charge that was none.

use dpgp::release::{Offer, Paid, PrivatePredictions};

pub fn paid<'a>(offer: Offer<'a, PrivatePredictions<'a>>) -> Paid<'a, PrivatePredictions<'a>> {
    Paid { offer, receipt: None }
}

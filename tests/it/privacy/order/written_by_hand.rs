//! A release that was not drawn by what was paid.

use dpgp::release::{Charged, Guaranteed, SumsFile};

pub fn charged(value: SumsFile, guaranteed: Guaranteed) -> Charged<SumsFile> {
    Charged { value, guaranteed, compared: true, receipt: None }
}

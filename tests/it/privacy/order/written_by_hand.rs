//! A release that was not drawn by what was paid.

use dpgp::release::{DrawnRelease, ReleaseGuarantee, ReleasedSums};

pub fn charged(value: ReleasedSums, guaranteed: ReleaseGuarantee) -> DrawnRelease<ReleasedSums> {
    DrawnRelease { value, guaranteed, compared: true, receipt: None, joint: None }
}

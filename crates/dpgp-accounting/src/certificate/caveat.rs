//! What a guarantee leaves out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::AccountingCaveat;

/// A reason why the guarantee holds only in part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caveat {
    /// Rows were chosen by their private target.
    PrivateFilter,
    /// Targets were clipped, centred or scaled by statistics of the private targets.
    PrivateNormalisation,
    /// Epsilon lies outside the proof of the classic calibration.
    OutsideProof,
    /// The printed sensitivity is not a bound.
    InvalidSensitivity,
    /// Inputs were standardised by statistics of all private rows.
    PrivateStandardisation,
    /// What the accountant leaves out.
    Accounting(AccountingCaveat),
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accounting(caveat) => return caveat.fmt(f),
            Self::PrivateStandardisation => "inputs standardised by statistics of all private rows",
            Self::PrivateFilter => "rows chosen by the private target",
            Self::PrivateNormalisation => "targets normalised by private statistics",
            Self::OutsideProof => "epsilon > 1 is outside the proof of the classic calibration",
            Self::InvalidSensitivity => "the published sensitivity is not a bound",
        })
    }
}

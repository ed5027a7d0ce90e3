//! One release, from its rows to the written file.
//!
//! The order is the same for predictions and for sums, for the command and for Python. Only this module defines it.
//!
//! | step | what happens | what it may depend on |
//! |---|---|---|
//! | refuse | errors that do not depend on data: the spec, an epsilon, a file that cannot be written | settings, files |
//! | read | rows, their identity, the fit and the size of the noise; refuse a guarantee that is too weak for the public number of rows | settings, public facts of the rows |
//! | charge | the ledger of the rows is charged, or refuses the release | the ledger |
//! | draw | the noise is drawn | the rows |
//! | write | the draw is written | the draw |
//!
//! The first two make a [`Release`], and [`publish`] does the rest. The types ensure that no noise is drawn before the
//! charge ([`Offer`](crate::Offer)). The proof that a refused release shows nothing private is there, too.

use super::draw::{Charged, Offer};
use super::ledger::{LedgerPlace, Receipt};
use super::numbers::WrittenNumbers;
use super::{
    PredictionRequest, PrivatePredictions, ReleaseError, Streamed, StreamedTotal, Subject, SumsFile,
    SumsModel,
};
use dpgp_data::Fingerprint;
use dpgp_mechanisms::PrivacySetting;

/// Rows and the release that is requested of them.
pub trait Release {
    /// The released value.
    type Value<'a>: WrittenNumbers
    where
        Self: 'a;

    /// Makes the offer: the guarantee, and a way to draw the noise.
    ///
    /// # Errors
    /// [`ReleaseError`] for exceptions to the guarantee, unless they are allowed, or if the noise cannot be designed.
    fn offer(&self, allow_exceptions: bool) -> Result<Offer<'_, Self::Value<'_>>, ReleaseError>;

    /// The subject for the entry of a ledger.
    fn subject(&self) -> Subject<'_>;

    /// The identity of the rows for ledgers. None if they were read without a key.
    fn rows(&self) -> Option<&Fingerprint>;
}

/// The terms of a release.
pub struct Terms<'a> {
    /// The place of ledgers. Without one the release is not counted, and its certificate says so.
    pub place: Option<&'a LedgerPlace>,
    /// Whether a guarantee may have exceptions.
    pub allow_exceptions: bool,
}

/// An error that may happen after a release was charged.
pub trait AfterCharge: From<ReleaseError> {
    /// Adds the cost that was spent.
    #[must_use]
    fn after_charge(self, receipt: Option<&Receipt>) -> Self;
}

impl AfterCharge for ReleaseError {
    fn after_charge(self, receipt: Option<&Receipt>) -> Self {
        self.charged(receipt)
    }
}

/// Charges a release to the ledger of its rows, draws its noise and writes it.
///
/// `ready` is called once, after the design, which may take minutes, and before the charge: the last moment to stop at
/// no cost. `write` gets the drawn release, and its error states what was spent.
///
/// # Errors
/// [`ReleaseError`] where the release is refused, and nothing is spent; or what `ready` or `write` fails with.
pub fn publish<'r, R: Release, W, E: AfterCharge>(
    release: &'r R,
    terms: &Terms<'_>,
    ready: impl FnOnce() -> Result<(), E>,
    write: impl FnOnce(&Charged<R::Value<'r>>) -> Result<W, E>,
) -> Result<W, E> {
    let offer = release.offer(terms.allow_exceptions)?;
    ready()?;
    let paid = offer.charge(terms.place, &release.subject(), release.rows())?;
    let charged = paid.draw()?;
    write(&charged).map_err(|cause| cause.after_charge(charged.receipt()))
}

impl<'r> Release for PredictionRequest<'r> {
    type Value<'a>
        = PrivatePredictions<'a>
    where
        'r: 'a;

    fn offer(&self, allow_exceptions: bool) -> Result<Offer<'_, PrivatePredictions<'_>>, ReleaseError> {
        self.offer(allow_exceptions)
    }

    fn subject(&self) -> Subject<'_> {
        self.subject()
    }

    fn rows(&self) -> Option<&Fingerprint> {
        self.fingerprint()
    }
}

/// Sums over any number of rows, released for a guarantee.
pub struct SumsRequest<'a, M: SumsModel> {
    /// The spec that they are of.
    pub streamed: &'a Streamed<'a, M>,
    /// The exact sums.
    pub total: &'a StreamedTotal<M>,
    /// The guarantee.
    pub privacy: &'a PrivacySetting,
    /// Whether the rows are identified. If not, they belong to no ledger.
    pub known: bool,
}

impl<'r, M: SumsModel> Release for SumsRequest<'r, M> {
    type Value<'a>
        = SumsFile
    where
        'r: 'a;

    fn offer(&self, allow_exceptions: bool) -> Result<Offer<'_, SumsFile>, ReleaseError> {
        self.streamed.offer(self.total, self.privacy, allow_exceptions)
    }

    fn subject(&self) -> Subject<'_> {
        self.streamed.subject(self.privacy)
    }

    fn rows(&self) -> Option<&Fingerprint> {
        self.total.fingerprint().filter(|_| self.known)
    }
}

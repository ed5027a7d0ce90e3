//! The mechanism of a spec, which the language itself does not know.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What adds the noise, as a spec writes it below `privacy.mechanism`.
pub trait MechanismSection: Debug + Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// Its word in specs.
    fn word(&self) -> &'static str;

    /// Whether the number of rows that are used must be public.
    fn needs_public_rows(&self) -> bool;
}

//! Designs that were made.

use std::sync::{Arc, Mutex, PoisonError};

use dpgp_mechanisms::MomentsDesign;

/// What a design depends on beside the spec: the number of rows and the size of the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DesignKey {
    pub rows: usize,
    pub sigma: f64,
}

#[derive(Debug)]
struct KnownDesign {
    key: DesignKey,
    design: MomentsDesign,
}

/// The last design of a model, which many draws share.
#[derive(Debug, Clone, Default)]
pub(super) struct LastDesign(Arc<Mutex<Option<KnownDesign>>>);

impl LastDesign {
    /// The design of a key: the last one, or a new one.
    pub fn or_new<E>(
        &self,
        key: DesignKey,
        make: impl FnOnce() -> Result<MomentsDesign, E>,
    ) -> Result<MomentsDesign, E> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = known.as_ref().filter(|last| last.key == key) {
            return Ok(last.design.clone());
        }
        let design = make()?;
        *known = Some(KnownDesign { key, design: design.clone() });
        Ok(design)
    }
}

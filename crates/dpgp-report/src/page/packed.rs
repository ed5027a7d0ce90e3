//! What the script of the page unpacks: figures and rows repeat themselves, and are most of it.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::rows::PageTable;
use crate::results::PublishError;

/// What the script finds.
#[derive(Serialize)]
struct Contents<'a> {
    figure: Option<&'a str>,
    #[serde(flatten)]
    table: &'a PageTable,
}

/// A figure and a table as JSON, compressed by gzip, in letters of base 64.
///
/// # Errors
/// [`PublishError::Packing`].
pub(super) fn packed(figure: Option<&str>, table: &PageTable) -> Result<String, PublishError> {
    let json = serde_json::to_vec(&Contents { figure, table }).map_err(std::io::Error::from);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let bytes = json.and_then(|json| encoder.write_all(&json)).and_then(|()| encoder.finish());
    Ok(STANDARD.encode(bytes.map_err(PublishError::Packing)?))
}

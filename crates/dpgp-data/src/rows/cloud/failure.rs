//! Errors of a store, in messages that reveal no secrets.

use std::error::Error;
use std::io::{self, ErrorKind};

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};

/// The error of a store in words of our own: addresses of requests may hold signatures, and answers anything.
pub fn store_to_io_error(error: &StoreError) -> io::Error {
    let text = error.to_string();
    let status = parse_http_status(&text);
    let (kind, text) = match (error, status) {
        (StoreError::NotFound { .. }, _) | (_, Some(404)) => {
            (ErrorKind::NotFound, "there is no such object or bucket".to_owned())
        }
        (StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. }, _) | (_, Some(401 | 403)) => {
            (ErrorKind::PermissionDenied, REFUSED.to_owned())
        }
        (StoreError::Precondition { .. }, _) => {
            (ErrorKind::Other, "the object changed while it was being read".to_owned())
        }
        (_, Some(status)) => (ErrorKind::Other, format!("the store answered with HTTP status {status}")),
        _ if text.contains("non-partial response") => {
            (ErrorKind::Unsupported, "the server does not support partial downloads, which are needed".to_owned())
        }
        _ => describe_transport_error(find_cause::<HttpError>(error).map(HttpError::kind)),
    };
    io::Error::new(kind, text)
}

const REFUSED: &str =
    "the store refused access; check the credentials in the environment (AWS_..., GOOGLE_..., AZURE_...)";

fn describe_transport_error(kind: Option<HttpErrorKind>) -> (ErrorKind, String) {
    match kind {
        Some(HttpErrorKind::Timeout) => (ErrorKind::TimedOut, "the store did not answer in time".to_owned()),
        Some(HttpErrorKind::Connect) => (ErrorKind::NotConnected, "the store cannot be reached".to_owned()),
        Some(_) => (ErrorKind::ConnectionAborted, "the connection to the store broke".to_owned()),
        None => {
            (ErrorKind::Other, "cannot use the store; check its settings and credentials in the environment".to_owned())
        }
    }
}

/// The status in what the library says of an answer; its type for that is not public.
fn parse_http_status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

/// The first cause of a type.
fn find_cause<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

//! The object stores, with their errors in messages that reveal no secrets, and waiting for an answer in synchronous code.

use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientConfigKey, Error as StoreError, ObjectStore, Result, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::location::CloudLocation;
use crate::http::install_tls_provider;

/// A store that requests go to.
pub type SharedObjectStore = Arc<dyn ObjectStore>;

/// Each store by its scheme and bucket, so that its connections serve all objects in it.
static STORES: OnceLock<Mutex<BTreeMap<(&str, String), SharedObjectStore>>> = OnceLock::new();

/// How long a request may take before it is tried again.
const TIMEOUT: &str = "20 seconds";

/// How long it may take to reach the store.
const CONNECT: &str = "5 seconds";

/// The store of an address. Credentials, endpoint and region are those of the environment.
///
/// # Errors
/// Settings in the environment that cannot be used.
pub fn open_store(location: &CloudLocation) -> io::Result<SharedObjectStore> {
    let stores = STORES.get_or_init(Mutex::default);
    let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
    let name = (location.scheme, location.bucket.clone());
    if let Some(known) = stores.get(&name) {
        return Ok(Arc::clone(known));
    }
    install_tls_provider();
    let made = build_store(location).map_err(|cause| store_to_io_error(&cause))?;
    stores.insert(name, Arc::clone(&made));
    Ok(made)
}

fn build_store(location: &CloudLocation) -> Result<SharedObjectStore> {
    let bucket = location.bucket.as_str();
    let [timeout, connect] = [ClientConfigKey::Timeout, ClientConfigKey::ConnectTimeout];
    Ok(match location.scheme {
        "s3" => Arc::new(
            AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                .with_config(AmazonS3ConfigKey::Client(timeout), TIMEOUT)
                .with_config(AmazonS3ConfigKey::Client(connect), CONNECT)
                .with_retry(retry_config())
                .build()?,
        ),
        "gs" => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(bucket)
                .with_config(GoogleConfigKey::Client(timeout), TIMEOUT)
                .with_config(GoogleConfigKey::Client(connect), CONNECT)
                .with_retry(retry_config())
                .build()?,
        ),
        "az" => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_container_name(bucket)
                .with_config(AzureConfigKey::Client(timeout), TIMEOUT)
                .with_config(AzureConfigKey::Client(connect), CONNECT)
                .with_retry(retry_config())
                .build()?,
        ),
        _ => Arc::new(
            HttpBuilder::new()
                .with_url(format!("https://{bucket}"))
                .with_config(timeout, TIMEOUT)
                .with_config(connect, CONNECT)
                .with_retry(retry_config())
                .build()?,
        ),
    })
}

/// A store that is down is an error within a minute.
fn retry_config() -> RetryConfig {
    RetryConfig { max_retries: 3, retry_timeout: Duration::from_secs(20), ..RetryConfig::default() }
}

/// The error of a store in words of our own: addresses of requests may hold signatures, and answers anything.
fn store_to_io_error(error: &StoreError) -> io::Error {
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
            (ErrorKind::Unsupported, "the server does not support partial downloads, which dpgp needs".to_owned())
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
        Some(_) => (ErrorKind::ConnectionAborted, "the connection to the store was lost".to_owned()),
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

/// The longest that one request may take, with all that it is tried again.
const LONGEST: Duration = Duration::from_secs(50);

/// The runtime of all requests: it has no thread of its own, and works while somebody waits.
static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();

/// Result of a request.
///
/// # Errors
/// Those of the store, in words of our own, and that there was no answer in time.
pub fn wait_for_request<T>(request: impl Future<Output = Result<T>>) -> io::Result<T> {
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build());
    let runtime = runtime.as_ref().map_err(|cause| io::Error::new(cause.kind(), cause.to_string()))?;
    match runtime.block_on(async { tokio::time::timeout(LONGEST, request).await }) {
        Ok(answer) => answer.map_err(|cause| store_to_io_error(&cause)),
        Err(_) => Err(io::Error::new(ErrorKind::TimedOut, "the store did not answer in time")),
    }
}

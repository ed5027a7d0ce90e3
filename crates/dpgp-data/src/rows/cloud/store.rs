//! The object stores.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientConfigKey, ObjectStore, Result, RetryConfig};

use super::failure::store_to_io_error;
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

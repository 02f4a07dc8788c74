//! Access to files on this machine, and in object stores that an address names.

use std::ffi::OsString;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, parse_url_opts};
use url::Url;

/// The object stores of a process. A store is opened when an address first names it, with the settings found in the
/// environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_KEY` and so on).
#[derive(Debug, Default)]
struct Stores(DefaultObjectStoreRegistry);

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.0.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.0.get_store(url).or_else(|_| {
            let (store, _) = parse_url_opts(url, options(url)).map_err(|error| {
                DataFusionError::ObjectStore(Box::new(error)).context(format!("could not open the store of {url}"))
            })?;
            let store: Arc<dyn ObjectStore> = Arc::from(store);
            self.0.register_store(url, store.clone());
            Ok(store)
        })
    }
}

/// Returns the options with which a store is opened. They come from the environment variables of all stores; each store
/// uses those that it knows. If the address begins with http, unencrypted connections are allowed.
fn options(url: &Url) -> impl Iterator<Item = (String, String)> {
    let known = |(key, value): (OsString, OsString)| {
        let key = key.into_string().ok()?.to_ascii_lowercase();
        let of_store = ["aws_", "azure_", "google_"].iter().any(|store| key.starts_with(store));
        Some((key, value.into_string().ok()?)).filter(|_| of_store)
    };
    let plain = (url.scheme() == "http").then(|| ("allow_http".to_string(), "true".to_string()));
    std::env::vars_os().filter_map(known).chain(plain)
}

/// Returns the builder of a runtime environment with access to every store that an address can name.
pub(crate) fn with_stores() -> RuntimeEnvBuilder {
    RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()))
}

/// Creates a runtime environment for queries, with access to every store that an address can name. `memory` is the
/// maximum number of bytes that queries may use; `None` means no maximum.
///
/// # Errors
/// If the system provides no folder for temporary files.
pub fn runtime(memory: Option<usize>) -> Result<Arc<RuntimeEnv>> {
    match memory {
        Some(bytes) => with_stores().with_memory_limit(bytes, 1.),
        None => with_stores(),
    }
    .build_arc()
}

/// Returns true for an address in a store, such as `s3://bucket/file`, and false for a path.
pub fn is_address(place: &str) -> bool {
    place.contains("://")
}

/// Returns the store of an address, and the object's path in it.
fn find(address: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
    let url = ListingTableUrl::parse(address)?;
    Ok((runtime(None)?.object_store(url.object_store())?, url.prefix().clone()))
}

/// Reads an object of at most `limit` bytes.
///
/// # Errors
/// If the object cannot be read, or is larger.
pub async fn read_object(address: &str, limit: u64) -> Result<Bytes> {
    let (store, path) = find(address)?;
    let found = store.get(&path).await?;
    let size = found.meta.size;
    if size > limit {
        return exec_err!("{address} has {size} bytes, but must have at most {limit}");
    }
    Ok(found.bytes().await?)
}

/// Writes an object.
///
/// # Errors
/// If the object cannot be written.
pub async fn write_object(address: &str, content: Vec<u8>) -> Result<()> {
    let (store, path) = find(address)?;
    store.put(&path, content.into()).await?;
    Ok(())
}

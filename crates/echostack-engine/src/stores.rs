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

use crate::access::{Access, Guarded};

/// The object stores of a process. A store is opened when an address first names it, with the settings found in the
/// environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_KEY` and so on).
///
/// With a list, only what is in it can be used.
#[derive(Debug)]
struct Stores {
    open: DefaultObjectStoreRegistry,
    access: Option<Arc<Access>>,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.open.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let Some(access) = &self.access else { return self.open(url) };
        let root = ListingTableUrl::try_new(url.clone(), None)?.object_store().as_str().to_string();
        if !access.mentions(&root) {
            return exec_err!(
                "{root}: it is not in a place that this process was allowed to use with --read or --write"
            );
        }
        Ok(Arc::new(Guarded { store: self.open(url)?, root, access: access.clone() }))
    }
}

impl Stores {
    /// Returns a store, and opens it first if it is named for the first time.
    fn open(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.open.get_store(url).or_else(|_| {
            let (store, _) = parse_url_opts(url, options(url)).map_err(|error| {
                DataFusionError::ObjectStore(Box::new(error)).context(format!("could not open the store of {url}"))
            })?;
            let store: Arc<dyn ObjectStore> = Arc::from(store);
            self.open.register_store(url, store.clone());
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

/// Returns the builder of a runtime environment with access to what is in the list, or, without a list, to every store
/// that an address can name.
pub(crate) fn with_stores(access: Option<Arc<Access>>) -> RuntimeEnvBuilder {
    let stores = Stores { open: DefaultObjectStoreRegistry::default(), access };
    RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(stores))
}

/// Creates a runtime environment for queries, with access to every store that an address can name. `memory` is the
/// maximum number of bytes that queries may use; `None` means no maximum.
///
/// # Errors
/// If the system provides no folder for temporary files.
pub fn runtime(memory: Option<usize>) -> Result<Arc<RuntimeEnv>> {
    match memory {
        Some(bytes) => with_stores(None).with_memory_limit(bytes, 1.),
        None => with_stores(None),
    }
    .build_arc()
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

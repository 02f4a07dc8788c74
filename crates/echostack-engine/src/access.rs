//! The folders and stores that a process of a cluster may use. The list is enforced below the queries: whatever a plan
//! says, its files are opened through a [`Guarded`] store.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::common::{Result, exec_datafusion_err, exec_err};
use datafusion::datasource::listing::ListingTableUrl;
use futures::stream::{BoxStream, StreamExt, TryStreamExt, once};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};

use crate::query::is_address;

/// The folders and stores that queries may read and write. The default is none.
#[derive(Clone, Debug, Default)]
pub struct Access {
    read: Vec<Place>,
    write: Vec<Place>,
}

/// A folder with everything in it, or the objects of a store that begin with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Folder(PathBuf),
    Store { root: String, prefix: Path },
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Read,
    Write,
}

/// The address of the local file system, as a store.
const LOCAL: &str = "file:///";

impl Place {
    fn new(place: &str) -> Result<Self> {
        if is_address(place) && !place.starts_with(LOCAL) {
            let url = ListingTableUrl::parse(place)?;
            return Ok(Self::Store { root: url.object_store().as_str().into(), prefix: url.prefix().clone() });
        }
        let folder = FilePath::new(place.strip_prefix("file://").unwrap_or(place));
        let folder = folder.canonicalize();
        let folder = folder.map_err(|error| exec_datafusion_err!("could not use the folder {place}: {error}"))?;
        if !folder.is_dir() {
            return exec_err!("{place} is a file, but only whole folders can be allowed");
        }
        Ok(Self::Folder(folder))
    }
}

impl Access {
    /// Creates a list from the folders and addresses that may be read and written.
    ///
    /// # Errors
    /// If a folder does not exist, or an address is not valid.
    pub fn new(read: &[String], write: &[String]) -> Result<Self> {
        let places = |places: &[String]| places.iter().map(|place| Place::new(place)).collect::<Result<_>>();
        Ok(Self { read: places(read)?, write: places(write)? })
    }

    fn places(&self, deed: Deed) -> &[Place] {
        match deed {
            Deed::Read => &self.read,
            Deed::Write => &self.write,
        }
    }

    /// Returns true if a file on this machine may be used. Symbolic links are resolved first. The answer does not
    /// depend on whether a file outside the list exists.
    pub(crate) fn allows_file(&self, deed: Deed, path: &FilePath) -> bool {
        let within = |resolved: &PathBuf, place: &Place| match place {
            Place::Folder(folder) => resolved.starts_with(folder),
            Place::Store { .. } => false,
        };
        resolved(path).is_some_and(|path| self.places(deed).iter().any(|place| within(&path, place)))
    }

    /// Returns true if an object may be used. `root` is the address of its store.
    pub(crate) fn allows(&self, deed: Deed, root: &str, path: &Path) -> bool {
        if root == LOCAL {
            let file = LocalFileSystem::new().path_to_filesystem(path);
            return file.is_ok_and(|file| self.allows_file(deed, &file));
        }
        self.places(deed).iter().any(|place| match place {
            Place::Store { root: allowed, prefix } => allowed == root && path.prefix_matches(prefix),
            Place::Folder(_) => false,
        })
    }

    /// Checks that an object may be used.
    fn check(&self, deed: Deed, root: &str, path: &Path) -> StoreResult<()> {
        if self.allows(deed, root, path) { Ok(()) } else { Err(refusal(deed, path)) }
    }

    /// Returns true if any object of a store may be used. Otherwise, the store is not even opened, because opening it
    /// could send this machine's keys to an address that the client chose.
    pub(crate) fn mentions(&self, root: &str) -> bool {
        let of_store = |place: &Place| matches!(place, Place::Store { root: allowed, .. } if allowed == root);
        root == LOCAL || self.read.iter().chain(&self.write).any(of_store)
    }
}

/// Returns a path without symbolic links. The end of the path need not exist.
fn resolved(path: &FilePath) -> Option<PathBuf> {
    let (mut existing, mut rest) = (path, Vec::new());
    loop {
        match existing.canonicalize() {
            Ok(found) => return Some(rest.into_iter().rev().fold(found, |path, name| path.join(name))),
            // A link that leads nowhere could lead somewhere later.
            Err(error) if error.kind() == ErrorKind::NotFound && !existing.is_symlink() => {
                rest.push(existing.file_name()?);
                existing = existing.parent()?;
            }
            Err(_) => return None,
        }
    }
}

/// A store of which only the allowed objects can be used.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The address of the store.
    pub(crate) root: String,
    pub(crate) access: Arc<Access>,
}

impl fmt::Display for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.store)
    }
}

/// Returns the error for a file that is not in the list.
fn refusal(deed: Deed, path: &Path) -> Error {
    let option = match deed {
        Deed::Read => "--read",
        Deed::Write => "--write",
    };
    let source = format!("it is not in a place that this process was allowed to use with {option}").into();
    Error::PermissionDenied { path: path.to_string(), source }
}

impl Guarded {
    fn check(&self, deed: Deed, path: &Path) -> StoreResult<()> {
        self.access.check(deed, &self.root, path)
    }

    /// Checks each object of a list, because a link in an allowed folder may lead out of it.
    fn checked(
        &self,
        listed: BoxStream<'static, StoreResult<ObjectMeta>>,
    ) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        let (access, root) = (self.access.clone(), self.root.clone());
        let check = move |meta: ObjectMeta| access.check(Deed::Read, &root, &meta.location).map(|()| meta);
        listed.map(move |meta| meta.and_then(&check)).boxed()
    }

    fn check_prefix(&self, prefix: Option<&Path>) -> StoreResult<()> {
        self.check(Deed::Read, prefix.unwrap_or(&Path::default()))
    }
}

#[async_trait]
impl ObjectStore for Guarded {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> StoreResult<PutResult> {
        self.check(Deed::Write, location)?;
        self.store.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        self.check(Deed::Write, location)?;
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        self.check(Deed::Read, location)?;
        self.store.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[std::ops::Range<u64>]) -> StoreResult<Vec<Bytes>> {
        self.check(Deed::Read, location)?;
        self.store.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, StoreResult<Path>>) -> BoxStream<'static, StoreResult<Path>> {
        let (access, root) = (self.access.clone(), self.root.clone());
        let check = move |path: Path| std::future::ready(access.check(Deed::Write, &root, &path).map(|()| path));
        self.store.delete_stream(locations.and_then(check).boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        match self.check_prefix(prefix) {
            Ok(()) => self.checked(self.store.list(prefix)),
            Err(error) => once(std::future::ready(Err(error))).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        self.check_prefix(prefix)?;
        let listed = self.store.list_with_delimiter(prefix).await?;
        listed.objects.iter().try_for_each(|meta| self.check(Deed::Read, &meta.location))?;
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> StoreResult<()> {
        self.check(Deed::Read, from)?;
        self.check(Deed::Write, to)?;
        self.store.copy_opts(from, to, options).await
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use object_store::ObjectStoreExt;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_is_in_the_list_is_allowed_wherever_links_lead() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["in", "in/deep", "out", "secret"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::write(at("secret/key"), "key").unwrap();
        std::fs::write(at("in/words"), "words").unwrap();
        symlink(at("secret"), at("in/link")).unwrap();
        symlink(at("secret/new"), at("out/nowhere")).unwrap();
        symlink(at("in"), at("same")).unwrap();
        let shown = |name: &str| at(name).to_string_lossy().into_owned();
        let access = Access::new(&[shown("same")], &[shown("out")]).unwrap();
        let read = |name: &str| access.allows_file(Deed::Read, &at(name));
        let write = |name: &str| access.allows_file(Deed::Write, &at(name));
        assert!(read("in/words") && read("in/deep/not/there") && read("same/words") && write("out/new/file"));
        for name in
            ["secret/key", "secret/nothing", "in/link/key", "in/link/nothing", "in/../secret/key", "inner", "out"]
        {
            assert!(!read(name), "{name}");
        }
        for name in ["in/words", "out/../secret/new", "out/nowhere", "secret/new", "outer"] {
            assert!(!write(name), "{name}");
        }
        let nothing = Access::default();
        assert!(!nothing.allows_file(Deed::Read, FilePath::new("/")) && !nothing.mentions("s3://bucket/"));
        assert!(Access::new(&[shown("missing")], &[]).is_err() && Access::new(&[shown("secret/key")], &[]).is_err());
    }

    #[test]
    fn stores_are_allowed_by_prefix() {
        let access = Access::new(&["s3://bucket/in".into()], &["gs://other".into()]).unwrap();
        let path = |path: &str| Path::parse(path).unwrap();
        assert!(access.allows(Deed::Read, "s3://bucket/", &path("in/a")));
        assert!(!access.allows(Deed::Read, "s3://bucket/", &path("inner/a")));
        assert!(!access.allows(Deed::Write, "s3://bucket/", &path("in/a")));
        assert!(access.allows(Deed::Write, "gs://other/", &path("a")));
        assert!(access.mentions("s3://bucket/") && !access.mentions("s3://bucket2/"));
        assert!(!access.allows(Deed::Read, LOCAL, &path("in/a")));
    }

    #[tokio::test]
    async fn a_guarded_store_refuses_every_operation() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("in");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(folder.path().join("secret"), "key").unwrap();
        std::fs::write(inside.join("words"), "words").unwrap();
        let places = [inside.to_string_lossy().into_owned()];
        let access = Arc::new(Access::new(&places, &places).unwrap());
        let store = Guarded { store: Arc::new(LocalFileSystem::new()), root: LOCAL.into(), access };
        let path = |name: &str| Path::from_absolute_path(folder.path().join(name)).unwrap();
        let (secret, words) = (path("secret"), path("in/words"));
        assert!(store.get(&words).await.is_ok() && store.head(&words).await.is_ok());
        let denied = |error: Error| matches!(error, Error::PermissionDenied { .. });
        assert!(denied(store.get(&secret).await.unwrap_err()) && denied(store.head(&secret).await.unwrap_err()));
        assert!(denied(store.get_range(&secret, 0..1).await.unwrap_err()));
        assert!(denied(store.get(&path("nothing")).await.unwrap_err()));
        assert!(denied(store.put(&path("new"), "x".into()).await.unwrap_err()));
        assert!(denied(store.put_multipart(&path("new")).await.map(|_| ()).unwrap_err()));
        assert!(denied(store.delete(&secret).await.unwrap_err()));
        assert!(denied(store.copy(&secret, &words).await.unwrap_err()));
        assert!(denied(store.copy(&words, &path("new")).await.unwrap_err()));
        assert!(denied(store.rename(&secret, &words).await.unwrap_err()));
        assert!(denied(store.list(None).try_collect::<Vec<_>>().await.unwrap_err()));
        assert!(denied(store.list_with_delimiter(Some(&path(""))).await.unwrap_err()));
        assert_eq!(store.list(Some(&path("in"))).try_collect::<Vec<_>>().await.unwrap().len(), 1);
        // A link that leads out is an error, not a file that is left out.
        symlink(folder.path().join("secret"), inside.join("link")).unwrap();
        assert!(denied(store.list(Some(&path("in"))).try_collect::<Vec<_>>().await.unwrap_err()));
        assert_eq!(std::fs::read(inside.join("words")).unwrap(), b"words");
        assert!(!folder.path().join("new").exists());
    }
}

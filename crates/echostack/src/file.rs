//! Model files: safetensors files with a JSON header, which are validated when they are read and replaced atomically
//! when they are written.
//!
//! Machines and tables are saved in such files. The key of the header says which of the two a file contains.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the file formats. Files of any other version are rejected.
pub(crate) const VERSION: u32 = 1;
/// The key of a machine's header in its file.
pub(crate) const MACHINE_KEY: &str = "echostack";
/// The maximum size of a file that is read, unless told otherwise.
pub const MAX_BYTES: u64 = 1 << 30;

/// The reason a model file could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system reported an error.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system. It is part of the message, and therefore not reported again as the
        /// source.
        error: std::io::Error,
    },
    /// The file exceeds one of the limits under which it is read.
    #[error("the file has {given} {what} or more; the limit is {most}")]
    Limit {
        /// What there is too much of: bytes, or one of the numbers in [`FileLimits`].
        what: &'static str,
        /// How much the file has, at least.
        given: u64,
        /// The limit.
        most: u64,
    },
    /// The bytes are not a safetensors file, or have no echostack header.
    #[error("this is not an echostack model: {0}")]
    NotAModel(String),
    /// The file has a different format version.
    #[error(
        "the model has format version {0}, but this program reads version {VERSION}; save it again with a matching version"
    )]
    Version(u32),
    /// The parts of the file contradict each other or are out of range.
    #[error("the model is damaged: {0}")]
    Damaged(String),
    /// The file contains a machine, which this program cannot run.
    #[error(
        "the file contains a machine, and this program was built without the feature `machine` of echostack: it runs tables only; compile the machine to a table"
    )]
    NoMachines,
    /// The machine's reservoir has a type that cannot be saved.
    #[error("the machine's reservoir has a custom type that returns no parts; implement Reservoir::parts to save it")]
    Reservoir,
}

pub(crate) fn damaged<T>(what: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::Damaged(what.into()))
}

/// The version in a header. It is read first, to distinguish a different version from damage.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Tensors to be written to a file.
#[derive(Default)]
pub(crate) struct Tensors(BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>);

impl Tensors {
    pub(crate) fn floats(&mut self, name: impl Into<String>, shape: &[usize], values: impl IntoIterator<Item = f64>) {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        self.0.insert(name.into(), (Dtype::F64, shape.to_vec(), bytes));
    }

    pub(crate) fn integers(&mut self, name: impl Into<String>, shape: &[usize], values: impl IntoIterator<Item = u32>) {
        let bytes = values.into_iter().flat_map(u32::to_le_bytes).collect();
        self.0.insert(name.into(), (Dtype::U32, shape.to_vec(), bytes));
    }

    /// Returns the bytes of a file with these tensors and this header.
    pub(crate) fn to_bytes(&self, key: &str, header: &impl Serialize) -> Result<Vec<u8>, FileError> {
        let broken = |error: String| FileError::Damaged(error);
        let header = serde_json::to_string(header).map_err(|error| broken(error.to_string()))?;
        let views: Result<Vec<_>, _> = self
            .0
            .iter()
            .map(|(name, (dtype, shape, bytes))| Ok((name, TensorView::new(*dtype, shape.clone(), bytes)?)))
            .collect();
        let views = views.map_err(|error: safetensors::SafeTensorError| broken(error.to_string()))?;
        serialize(views, Some(HashMap::from([(key.to_string(), header)]))).map_err(|error| broken(error.to_string()))
    }
}

/// Tensors of a file that is being read.
pub(crate) struct Reader<'a>(SafeTensors<'a>);

impl<'a> Reader<'a> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    /// Returns the bytes of a tensor with this element type and `width` columns. A one-dimensional tensor counts as one
    /// column.
    pub(crate) fn bytes(&self, name: &str, dtype: Dtype, width: usize) -> Result<&'a [u8], FileError> {
        let Ok(tensor) = self.0.tensor(name) else { return damaged(format!("the tensor {name} is missing")) };
        let fits = match *tensor.shape() {
            [_] => width == 1,
            [_, columns] => columns == width,
            _ => false,
        };
        if tensor.dtype() != dtype || !fits {
            return damaged(format!(
                "{name} must be {dtype:?} with {width} columns, not {:?} {:?}",
                tensor.dtype(),
                tensor.shape()
            ));
        }
        Ok(tensor.data())
    }

    pub(crate) fn floats(&self, name: &str, width: usize) -> Result<Vec<f64>, FileError> {
        let bytes = self.bytes(name, Dtype::F64, width)?;
        let values: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|&chunk| f64::from_le_bytes(chunk)).collect();
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            damaged(format!("{name} has a value that is not finite"))
        }
    }

    pub(crate) fn integers(&self, name: &str, width: usize) -> Result<Vec<u32>, FileError> {
        let bytes = self.bytes(name, Dtype::U32, width)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect())
    }

    /// Returns the rows of a tensor with `N` columns of integers.
    pub(crate) fn rows<const N: usize>(&self, name: &str) -> Result<Vec<[u32; N]>, FileError> {
        Ok(self.integers(name, N)?.as_chunks::<N>().0.to_vec())
    }

    /// Returns the shape of a tensor, or `None` if the file does not contain it.
    pub(crate) fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.0.tensor(name).ok().map(|tensor| tensor.shape().to_vec())
    }

    /// Returns the header of a file and a reader of its tensors.
    pub(crate) fn open<H: DeserializeOwned>(key: &str, bytes: &'a [u8]) -> Result<(H, Self), FileError> {
        let header = header(key, bytes)?.ok_or_else(|| FileError::NotAModel(format!("it has no {key:?} metadata")))?;
        let bad_header = |error: serde_json::Error| FileError::Damaged(format!("its header: {error}"));
        let Versioned { version } = serde_json::from_str(&header).map_err(bad_header)?;
        if version != VERSION {
            return Err(FileError::Version(version));
        }
        let header = serde_json::from_str(&header).map_err(bad_header)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| FileError::NotAModel(error.to_string()))?;
        Ok((header, Self(tensors)))
    }
}

/// Returns the header under this key, if the file has one.
pub(crate) fn header(key: &str, bytes: &[u8]) -> Result<Option<String>, FileError> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| FileError::NotAModel(error.to_string()))?;
    Ok(metadata.metadata().as_ref().and_then(|map| map.get(key)).cloned())
}

/// Writes a model file, as [`replace`] does.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace(path, |out| out.write_all(bytes)).map_err(|error| FileError::Io { path: path.to_path_buf(), error })
}

/// Writes a file. An existing file is replaced atomically: as a whole, or not at all, even if the program is killed or the
/// disk is full. A link is followed. What is not a file, such as a pipe or a device, is written to directly.
///
/// ```
/// use echostack::file::replace;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("notes.txt");
/// replace(&path, |out| writeln!(out, "first"))?;
/// let failed = replace(&path, |out| {
///     writeln!(out, "the beginning of the second")?;
///     Err(std::io::Error::other("no more"))
/// });
/// assert!(failed.is_err());
/// assert_eq!(std::fs::read_to_string(&path)?, "first\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the operating system or `write` reports an error.
pub fn replace(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>) -> std::io::Result<()> {
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        let mut out = BufWriter::new(std::fs::OpenOptions::new().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    #[allow(unused_mut, reason = "only on Unix are there permissions to set")]
    let mut builder = tempfile::Builder::new();
    // Use the permissions of an ordinary new file instead of the private ones of a temporary file. The umask still
    // applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder_of(path))?;
    let mut out = BufWriter::new(&mut file);
    write(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Checks that [`replace`] can write a file, so that a long computation need not find out in the end. The file stays as it
/// is.
///
/// # Errors
/// If the path is a folder, or the operating system does not allow a file next to it.
pub fn check_replaceable(path: &Path) -> std::io::Result<()> {
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match std::fs::metadata(path) {
        Ok(existing) if existing.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        // A device or a pipe is opened when there is something to write.
        Ok(existing) if !existing.is_file() => Ok(()),
        _ => tempfile::tempfile_in(folder_of(path)).map(drop),
    }
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What a model file may contain. The defaults are large enough for every model that can be made; a service that reads
/// untrusted models may want less. The limits are checked before anything is allocated for the model.
///
/// ```
/// use echostack::file::FileLimits;
/// use echostack::{Manifest, Model, Oracle, Table, tasks::Task};
/// let table = Table::new(&Oracle::strict(Task::Json.automaton().unwrap())?, Manifest::default())?;
/// let limits: FileLimits = "bytes=1000000,states=10".parse()?;
/// let refused = Model::from_bytes_within(&table.to_bytes()?, &limits).unwrap_err();
/// assert_eq!(refused.to_string(), "the file has 21 states or more; the limit is 10");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileLimits {
    /// The number of bytes of the file.
    pub bytes: u64,
    /// The number of symbols of the alphabet.
    pub symbols: u64,
    /// The number of neurons of a machine's reservoir.
    pub neurons: u64,
    /// The number of states with which a machine compares its own: the distinct halves of its support vectors.
    pub centers: u64,
    /// The number of states of a table.
    pub states: u64,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { bytes: MAX_BYTES, symbols: 1 << 16, neurons: 1 << 15, centers: 1 << 24, states: 1 << 16 }
    }
}

impl FileLimits {
    /// The names of the limits.
    pub const NAMES: [&str; 5] = ["bytes", "symbols", "neurons", "centers", "states"];

    /// Sets the limit with this name, and returns whether there is one.
    pub fn set(&mut self, name: &str, most: u64) -> bool {
        let limit = match name {
            "bytes" => &mut self.bytes,
            "symbols" => &mut self.symbols,
            "neurons" => &mut self.neurons,
            "centers" => &mut self.centers,
            "states" => &mut self.states,
            _ => return false,
        };
        *limit = most;
        true
    }

    /// Checks the sizes in the bytes of a file. Whether these bytes are a model is not checked.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), FileError> {
        let within =
            |what, given: u64, most| if given <= most { Ok(()) } else { Err(FileError::Limit { what, given, most }) };
        within("bytes", bytes.len() as u64, self.bytes)?;
        let Ok((_, metadata)) = SafeTensors::read_metadata(bytes) else { return Ok(()) };
        let tensors = metadata.tensors();
        let size = |name: &str, axis: usize| {
            tensors.get(name).and_then(|tensor| tensor.shape.get(axis)).map_or(0, |&size| size as u64)
        };
        within("neurons", size("centres.stack", 1).max(size("reservoir.recurrent", 1)), self.neurons)?;
        within("centers", size("centres.input", 0).saturating_add(size("centres.stack", 0)), self.centers)?;
        within("states", size("accepting", 0), self.states)?;
        let headers = metadata.metadata().iter().flat_map(HashMap::values);
        let symbols = headers.filter_map(|header| serde_json::from_str::<Symbols>(header).ok());
        symbols
            .map(|names| names.terminals.0 + names.nonterminals.0)
            .try_for_each(|count| within("symbols", count, self.symbols))
    }
}

/// Writes all limits in the form that is parsed, such as `bytes=1000000,symbols=100,neurons=512,centers=2000,states=50`.
impl std::fmt::Display for FileLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, symbols, neurons, centers, states } = self;
        write!(f, "bytes={bytes},symbols={symbols},neurons={neurons},centers={centers},states={states}")
    }
}

impl std::str::FromStr for FileLimits {
    type Err = String;

    /// Reads limits such as `bytes=1000000,neurons=512`. Limits that are not named have their defaults.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut limits = Self::default();
        read_limits(text, &Self::NAMES, |name, most| limits.set(name, most))?;
        Ok(limits)
    }
}

/// Reads limits such as `bytes=1000000,symbols=512`. `set` takes each of them, and returns whether there is such a limit.
///
/// # Errors
/// A message with the names, if something else is written.
pub fn read_limits(text: &str, names: &[&str], mut set: impl FnMut(&str, u64) -> bool) -> Result<(), String> {
    for one in text.split(',') {
        let parts = one.split_once('=').and_then(|(name, most)| Some((name.trim(), most.trim().parse().ok()?)));
        if !parts.is_some_and(|(name, most)| set(name, most)) {
            let names = names.join(", ");
            return Err(format!("{one:?} is not a limit; write NAME=NUMBER, with one of these names: {names}"));
        }
    }
    Ok(())
}

/// The part of a header that says how many symbols there are.
#[derive(Deserialize)]
struct Symbols {
    terminals: Count,
    nonterminals: Count,
}

/// The length of a list, whose items are not kept.
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;
        impl<'de> serde::de::Visitor<'de> for Items {
            type Value = Count;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while items.next_element::<serde::de::IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }
        deserializer.deserialize_seq(Items)
    }
}

/// Reads a text file, unless it has more bytes than this. A device that never ends is too large.
///
/// # Errors
/// If the operating system reports an error, if the text is not UTF-8, or if the file is too large.
pub fn read_text(path: &Path, most: u64) -> Result<String, FileError> {
    String::from_utf8(read_within(path, most)?).map_err(|error| {
        let error = std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error());
        FileError::Io { path: path.to_path_buf(), error }
    })
}

/// Reads a file, unless it has more bytes than this.
///
/// # Errors
/// If the operating system reports an error, or if the file is too large.
pub fn read_within(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let io = |error| FileError::Io { path: path.to_path_buf(), error };
    let mut bytes = Vec::new();
    // The size that the operating system reports is not used, because it is zero for devices.
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
    let given = bytes.len() as u64;
    if given > most { Err(FileError::Limit { what: "bytes", given, most }) } else { Ok(bytes) }
}

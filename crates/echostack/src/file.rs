//! Files: safetensors with a header in JSON. They are checked when they are read, and replaced whole when they are written.
//!
//! Machines and tables keep themselves in such files; the key of the header tells which of them it is.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the formats; a file of another version is refused.
pub(crate) const VERSION: u32 = 1;
/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Why a model file could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says; told above, and so no cause of its own.
        error: std::io::Error,
    },
    /// The file is larger than any model.
    #[error("the file has {0} bytes or more; a model file has at most {MAX_FILE_BYTES}")]
    TooLarge(u64),
    /// The bytes are no safetensors file, or have no echostack header.
    #[error("this is no echostack model: {0}")]
    NotAModel(String),
    /// The file is of another version.
    #[error(
        "the model has format version {0}, but this program reads version {VERSION}; save it again with a matching version"
    )]
    Version(u32),
    /// The parts of the file contradict each other or are out of range.
    #[error("the model is damaged: {0}")]
    Damaged(String),
    /// The machine's reservoir is of a type that cannot be saved.
    #[error(
        "the machine's reservoir is of a type of your own that gives no parts; implement Reservoir::parts to save it"
    )]
    Reservoir,
}

pub(crate) fn damaged<T>(what: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::Damaged(what.into()))
}

/// Read first, so that another version is told apart from damage.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Tensors on their way into a file.
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

    /// The bytes of a file with these tensors and this header.
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

/// Tensors of a file that is read.
pub(crate) struct Reader<'a>(SafeTensors<'a>);

impl<'a> Reader<'a> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    /// The bytes of a tensor of this type with `width` columns (1: a plain list).
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

    /// Rows of `N` integers.
    pub(crate) fn rows<const N: usize>(&self, name: &str) -> Result<Vec<[u32; N]>, FileError> {
        Ok(self.integers(name, N)?.as_chunks::<N>().0.to_vec())
    }

    /// The shape of a tensor, if it is there.
    pub(crate) fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.0.tensor(name).ok().map(|tensor| tensor.shape().to_vec())
    }

    /// The header of a file, and its tensors.
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

/// The header under this key, if the file has one.
pub(crate) fn header(key: &str, bytes: &[u8]) -> Result<Option<String>, FileError> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| FileError::NotAModel(error.to_string()))?;
    Ok(metadata.metadata().as_ref().and_then(|map| map.get(key)).cloned())
}

/// Writes a file. One that is there is replaced at once and whole, or not at all.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        // As any new file, in place of the secrecy of temporary ones; the user's mask still applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| FileError::Io { path: path.to_path_buf(), error })
}

/// Reads a file, unless it is too large.
///
/// # Errors
/// If the system refuses, or there is more than a model has.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let io = |error| FileError::Io { path: path.to_path_buf(), error };
    let mut bytes = Vec::new();
    // What the system says of its size is not asked: of a device that is nothing.
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FileError::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

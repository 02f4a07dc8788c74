//! Model files: safetensors files with a JSON header, which are validated when they are read and replaced atomically
//! when they are written.
//!
//! Machines and tables are saved in such files. The key of the header says which of the two a file contains.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the file formats. Files of any other version are rejected.
pub(crate) const VERSION: u32 = 1;
/// The maximum size of a file that is read.
const MAX_FILE_BYTES: u64 = 1 << 30;

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
    /// The file is larger than any model can be.
    #[error("the file has {0} bytes or more; a model file has at most {MAX_FILE_BYTES}")]
    TooLarge(u64),
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

/// Writes a file. An existing file is replaced atomically: as a whole, or not at all.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        #[allow(unused_mut, reason = "only on Unix are there permissions to set")]
        let mut builder = tempfile::Builder::new();
        // Use the permissions of an ordinary new file instead of the private ones of a temporary file. The umask still
        // applies.
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
/// If the operating system reports an error, or if the file is larger than any model can be.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let io = |error| FileError::Io { path: path.to_path_buf(), error };
    let mut bytes = Vec::new();
    // The size that the operating system reports is not used, because it is zero for devices.
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FileError::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

//! The files that the inputs of a command denote.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use glob::{MatchOptions, Pattern};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::rows::RowFormat;

/// One input file.
pub(crate) struct Part {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) meta: ObjectMeta,
    /// The address, as it is shown.
    pub(crate) address: String,
    /// The address, as a URL.
    pub(crate) url: String,
    pub(crate) format: Format,
    pub(crate) compression: FileCompressionType,
    /// The columns whose value is in the name of a folder (`day=3`), with their values.
    pub(crate) folders: Vec<(String, Option<String>)>,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Arrow,
    Rows(RowFormat),
}

/// The value of a folder that stands for null, in folders written by Hive and Spark.
const NULL_FOLDER: &str = "__HIVE_DEFAULT_PARTITION__";

/// In a pattern, as in a shell, `*` stays within a folder and `**` does not.
const PATTERN: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

impl Format {
    /// Returns the format and the compression that a file's name tells.
    fn of(location: &Path) -> Option<(Self, FileCompressionType)> {
        let name = location.filename()?.to_ascii_lowercase();
        let (name, ending) = name.rsplit_once('.')?;
        let compression = match ending {
            "gz" => FileCompressionType::GZIP,
            "zst" | "zstd" => FileCompressionType::ZSTD,
            _ => FileCompressionType::UNCOMPRESSED,
        };
        let ending = if compression.is_compressed() { name.rsplit_once('.')?.1 } else { ending };
        let format = match ending {
            "parquet" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            "jsonl" | "ndjson" | "json" => Self::Rows(RowFormat::Json),
            "csv" => Self::Rows(RowFormat::Csv),
            _ => return None,
        };
        // Parquet and Arrow compress their own columns.
        (matches!(format, Self::Rows(_)) || !compression.is_compressed()).then_some((format, compression))
    }
}

impl Part {
    fn new(store: Arc<dyn ObjectStore>, of: &ListingTableUrl, meta: ObjectMeta) -> Result<Self> {
        let root = of.object_store();
        let address = format!("{}{}", root.as_str(), meta.location);
        let Some((format, compression)) = Format::of(&meta.location) else {
            return plan_err!(
                "{address} has no known extension; use .parquet, .arrow (or .feather, .ipc), .jsonl (or .ndjson, .json) or \
                 .csv, the last two also with .gz or .zst, or choose the files with a pattern"
            );
        };
        let external = |error| DataFusionError::External(Box::new(error));
        let mut url = Url::parse(root.as_str()).map_err(external)?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.clear().extend(meta.location.parts().map(|part| part.as_ref().to_string()));
        }
        let folders = folder_columns(&meta.location);
        Ok(Self { store, meta, address, url: url.into(), format, compression, folders })
    }

    /// Returns the ending of the file's name, from its last dot, or from the dot before it if the file is compressed.
    pub(crate) fn ending(&self) -> &str {
        let name = self.url.rsplit('/').next().unwrap_or_default();
        let mut dots = name.rmatch_indices('.').map(|(at, _)| at);
        let at = if self.compression.is_compressed() { dots.nth(1) } else { dots.next() };
        &name[at.unwrap_or(0)..]
    }

    /// Fails if the file cannot have a header or a footer.
    pub(crate) fn refuse_empty(&self) -> Result<()> {
        if self.meta.size == 0 && !matches!(self.format, Format::Rows(_)) {
            return plan_err!(
                "the file is empty (0 bytes), so it is not {:?}; write it again or remove it",
                self.format
            );
        }
        Ok(())
    }
}

/// Lists the files that the inputs denote, each once, in alphabetical order. Folders are searched with all their
/// subfolders. As with Hive and Spark, files and folders whose names begin with `_` or `.` are skipped, and so are
/// checksums (`.crc`). If the folder `except` is within an input, its files are skipped, too.
///
/// # Errors
/// If an input denotes no file, or a file whose format is not known.
pub(crate) async fn parts(
    session: &SessionContext,
    inputs: &[String],
    except: Option<&ListingTableUrl>,
) -> Result<Vec<Part>> {
    let mut parts: BTreeMap<String, Part> = BTreeMap::new();
    for input in inputs {
        let url = parse(input)?;
        let store = session.runtime_env().object_store(url.object_store())?;
        let is_within = |except: &&ListingTableUrl| {
            except.object_store() == url.object_store()
                && except.prefix() != url.prefix()
                && except.prefix().prefix_matches(url.prefix())
        };
        let except = except.filter(is_within);
        let mut found = false;
        for meta in listed(&url, &*store).await? {
            let is_except = except.is_some_and(|except| meta.location.prefix_matches(except.prefix()));
            if denotes(&url, &meta.location) && !is_except {
                let part = Part::new(store.clone(), &url, meta)?;
                parts.insert(part.address.clone(), part);
                found = true;
            }
        }
        if !found {
            return plan_err!("{input}: there are no such files (names that begin with _ or . are skipped)");
        }
    }
    Ok(parts.into_values().collect())
}

/// Parses a path or an address. Both may contain a pattern, except for web addresses, where `?` has another meaning.
fn parse(input: &str) -> Result<ListingTableUrl> {
    let external = |error| DataFusionError::External(Box::new(error));
    if let Some((scheme, path)) = input.split_once("://")
        && !scheme.starts_with("http")
        && let Some(at) = path.find(['*', '?', '['])
    {
        let Some(slash) = path[..at].rfind('/') else {
            return plan_err!("{input}: a pattern is possible only after the name of the bucket");
        };
        let url = Url::parse(&format!("{scheme}://{}", &path[..=slash])).map_err(external)?;
        let pattern = Pattern::new(&path[slash + 1..]);
        return ListingTableUrl::try_new(url, Some(pattern.map_err(|error| DataFusionError::External(error.into()))?));
    }
    ListingTableUrl::parse(input)
}

/// Returns the file at an address, or all files below it.
async fn listed(url: &ListingTableUrl, store: &dyn ObjectStore) -> Result<Vec<ObjectMeta>> {
    if !url.is_collection() {
        match store.head(url.prefix()).await {
            Err(object_store::Error::NotFound { .. }) => {}
            found => return Ok(vec![found?]),
        }
    }
    Ok(store.list(Some(url.prefix())).try_collect().await?)
}

/// Returns true if an input denotes a file below it.
fn denotes(url: &ListingTableUrl, location: &Path) -> bool {
    let Some(names) = url.strip_prefix(location) else { return false };
    let names: Vec<&str> = names.collect();
    let has_value = |name: &str| name.contains('=');
    let is_hidden = |name: &&str| name.starts_with('.') || (name.starts_with('_') && !has_value(name));
    if names.iter().any(is_hidden) || location.extension() == Some("crc") && !names.is_empty() {
        return false;
    }
    // A pattern need not mention the folders that hold the values of columns.
    let without_values: Vec<&str> = names.iter().filter(|name| !has_value(name)).copied().collect();
    let matches = |pattern: &Pattern, names: &[&str]| pattern.matches_with(&names.join("/"), PATTERN);
    url.get_glob().as_ref().is_none_or(|pattern| matches(pattern, &names) || matches(pattern, &without_values))
}

/// Returns the columns whose values are in the names of a file's folders.
fn folder_columns(location: &Path) -> Vec<(String, Option<String>)> {
    let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let names: Vec<_> = location.parts().collect();
    let folders = names.iter().take(names.len().saturating_sub(1));
    let column = |(key, value): (&str, &str)| (decode(key), Some(decode(value)).filter(|value| value != NULL_FOLDER));
    folders.filter_map(|name| name.as_ref().split_once('=')).filter(|(key, _)| !key.is_empty()).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denoted(input: &str, location: &str) -> bool {
        denotes(&parse(input).unwrap(), &Path::parse(location).unwrap())
    }

    #[test]
    fn patterns_are_those_of_a_shell_and_may_leave_out_folders_with_values() {
        for input in ["s3://bucket/in/*.parquet", "s3://bucket/in/day=*/*.parquet", "s3://bucket/**/a.parquet"] {
            assert!(denoted(input, "in/day=3/a.parquet"), "{input}");
        }
        assert!(
            denoted("s3://bucket/in/", "in/2026/a.parquet") && denoted("s3://bucket/in/*/a?*", "in/2026/a.parquet")
        );
        assert!(!denoted("s3://bucket/in/*.parquet", "in/2026/a.parquet"));
        assert!(!denoted("s3://bucket/in/", "inner/a.parquet"));
        let told = parse("s3://buck*/in").unwrap_err().to_string();
        assert!(told.contains("only after the name of the bucket"), "{told}");
    }

    #[test]
    fn bookkeeping_files_are_skipped_unless_named() {
        for name in ["_SUCCESS", ".a.parquet.crc", "a.parquet.crc", "_temporary/0/a.parquet", ".hidden/a.parquet"] {
            assert!(!denoted("s3://bucket/in/", &format!("in/{name}")), "{name}");
        }
        assert!(denoted("s3://bucket/in/", "in/_day=3/a.parquet"));
        assert!(denoted("s3://bucket/_in/_a.parquet", "_in/_a.parquet"));
    }

    #[test]
    fn formats_and_folder_columns_are_read_from_names() {
        let format = |name: &str| Format::of(&Path::parse(name).unwrap());
        let json = Format::Rows(RowFormat::Json);
        assert_eq!(format("a.b.JSONL.GZ"), Some((json, FileCompressionType::GZIP)));
        assert_eq!(format("a.ndjson.zst"), Some((json, FileCompressionType::ZSTD)));
        assert_eq!(format("a.feather"), Some((Format::Arrow, FileCompressionType::UNCOMPRESSED)));
        assert_eq!([format("a.parquet.gz"), format("a.gz"), format("a"), format("a.txt")], [None; 4]);
        let path = Path::parse(format!("in/day=a%3Ab/of={NULL_FOLDER}/=x/c=d.csv")).unwrap();
        let columns: [(String, Option<String>); 2] = [("day".into(), Some("a:b".into())), ("of".into(), None)];
        assert_eq!(folder_columns(&path), columns);
    }
}

//! Kinds of disagreement that are known, from the JSON of an earlier comparison.

use std::collections::BTreeMap;

use serde_json::Value;

use super::raw;
use super::side::{Side, Vote};
use crate::program::MAX_TEXT;

/// The version of the JSON.
pub(super) const VERSION: u64 = 1;
/// The most known kinds.
const MAX_KINDS: usize = 100_000;

/// Kinds of disagreement that are accepted.
#[derive(Clone, Debug, Default)]
pub struct KnownKinds(Vec<KnownKind>);

/// A known kind.
#[derive(Clone, Debug)]
pub(super) struct KnownKind {
    pub(super) text: String,
    /// What each side says, by its name.
    said: BTreeMap<String, Vote>,
}

/// The reason why known kinds cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these are not the kinds of an earlier comparison, as `echostack compare --json` prints them: {0}")]
pub struct UnreadableKinds(String);

impl KnownKinds {
    /// Reads the JSON of an earlier comparison. Kinds may be left out of it, and in each kind everything but the text and the
    /// sides that accept and refuse it.
    ///
    /// # Errors
    /// If it is something else.
    pub fn from_json(text: &str) -> Result<Self, UnreadableKinds> {
        let fail = |reason: String| UnreadableKinds(reason);
        let value: Value = serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        let version = value.get("version").and_then(Value::as_u64);
        if version != Some(VERSION) {
            return Err(fail(format!("the field `version` must be {VERSION}")));
        }
        let kinds = value.get("kinds").and_then(Value::as_array).ok_or(fail("there is no list `kinds`".to_string()))?;
        if kinds.len() > MAX_KINDS {
            return Err(fail(format!("there are more than {MAX_KINDS} kinds")));
        }
        let read = |(number, kind): (usize, &Value)| {
            KnownKind::of(kind).ok_or(fail(format!(
                "kind {} needs a `text`, and lists of names in `accepted_by` and `refused_by`",
                number + 1
            )))
        };
        Ok(Self(kinds.iter().enumerate().map(read).collect::<Result<_, _>>()?))
    }

    pub(super) fn kinds(&self) -> &[KnownKind] {
        &self.0
    }
}

impl KnownKind {
    fn of(kind: &Value) -> Option<Self> {
        let text = match kind.get("bytes") {
            None => kind.get("text")?.as_str()?.to_string(),
            Some(bytes) => {
                let byte = |byte: &Value| u8::try_from(byte.as_u64()?).ok();
                raw::text(&bytes.as_array()?.iter().map(byte).collect::<Option<Vec<u8>>>()?)
            }
        };
        if text.len() > MAX_TEXT {
            return None;
        }
        let mut said = BTreeMap::new();
        for (field, vote) in [("accepted_by", Vote::Yes), ("refused_by", Vote::No), ("no_answer", Vote::Nothing)] {
            match kind.get(field) {
                None if vote == Vote::Nothing => {}
                names => {
                    for name in names?.as_array()? {
                        said.insert(name.as_str()?.to_string(), vote);
                    }
                }
            }
        }
        Some(Self { text, said })
    }

    /// Returns whether the sides say the same as before.
    pub(super) fn holds(&self, sides: &[Side<'_>], votes: &[Vote]) -> bool {
        sides.iter().zip(votes).all(|(side, vote)| self.said.get(side.name()) == Some(vote))
    }
}

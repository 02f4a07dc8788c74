//! The manifest of a model file, which describes where the model comes from.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The description of a model's origin in its file: who trained the model, on what, and with which parameters.
///
/// In the file, it is a JSON object whose values are strings. The facts that echostack itself records have accessors;
/// all other keys are kept as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Manifest(BTreeMap<String, String>);

/// Defines the accessor and the setter of each fact that echostack records, with its key in the file.
macro_rules! facts {
    ($($doc:literal $key:literal $get:ident $set:ident)*) => {
        impl Manifest {
            $(
                #[doc = $doc]
                pub fn $get(&self) -> Option<&str> {
                    self.get($key)
                }

                #[doc = concat!("Sets the value that [`Manifest::", stringify!($get), "`] returns.")]
                pub fn $set(&mut self, value: impl Display) {
                    self.set($key, value);
                }
            )*
        }
    };
}

facts! {
    "Returns the version of echostack that made the model." "echostack" version set_version
    "Returns the built-in task that the model was made for." "task" task set_task
    "Returns the grammar or automaton that the model was made for." "language" language set_language
    "Returns the source of the grammar that the model learned, if it learned one." "grammar" grammar set_grammar
    "Returns the source of the lexer, if the model reads texts." "lexer" lexer set_lexer
    "Returns the name of the encoding that turned a grammar into rules." "encoding" encoding set_encoding
    "Returns the parameters of the reservoir." "reservoir" reservoir set_reservoir
    "Returns the parameters of the support vector machines." "svm" svm set_svm
    "Returns the random seed of the words and weights." "seed" seed set_seed
    "Returns the number of training words that were requested." "count" word_count set_word_count
    "Returns the number of traces that the model was trained on." "traces" trace_count set_trace_count
    "Returns the SHA-256 digest of the training traces." "traces.sha256" trace_digest set_trace_digest
    "Returns what the model was constructed from, if it was not trained." "constructed" constructed set_constructed
}

impl Manifest {
    /// Returns the value of a key, if there is one.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Sets the value of a key.
    pub fn set(&mut self, key: &str, value: impl Display) {
        self.0.insert(key.to_string(), value.to_string());
    }

    /// Returns all keys with their values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The fields of a parameter set that a manifest records as `name: value, name: value`.
pub(crate) struct Fields<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Fields<'a> {
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        text.split(", ").map(|field| field.split_once(": ")).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn get<T: FromStr>(&self, name: &str) -> Option<T> {
        self.0.get(name)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_a_json_object_that_keeps_unknown_keys() {
        let text = r#"{"echostack":"0.1.0","note":"mine","traces.sha256":"ab"}"#;
        let mut manifest: Manifest = serde_json::from_str(text).unwrap();
        assert_eq!((manifest.version(), manifest.trace_digest()), (Some("0.1.0"), Some("ab")));
        assert_eq!((manifest.get("note"), manifest.lexer()), (Some("mine"), None));
        assert_eq!(serde_json::to_string(&manifest).unwrap(), text);
        manifest.set_trace_digest("cd");
        assert_eq!(manifest.iter().last(), Some(("traces.sha256", "cd")));
    }
}

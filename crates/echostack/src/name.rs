//! Names of enum values, as they appear in files and on the command line.

use std::fmt;

/// The error for a name that no value of its kind has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    kind: &'static str,
    given: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, given, known } = self;
        write!(f, "there is no {kind} {given:?}; the {kind}s are ")?;
        match known.as_slice() {
            [most @ .., last] if !most.is_empty() => write!(f, "{} and {last}", most.join(", ")),
            few => f.write_str(&few.concat()),
        }
    }
}

impl std::error::Error for UnknownName {}

/// Implements `Display` and `FromStr` for a type, based on its `ALL` and `name`.
macro_rules! named {
    ($type:ty, $kind:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::name::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::name::find($kind, name, Self::ALL, Self::name)
            }
        }
    };
}
pub(crate) use named;

/// Finds the value that has a name among all values of its kind.
///
/// # Errors
/// If none has this name.
pub fn find<T: Copy, const N: usize>(
    kind: &'static str,
    given: &str,
    all: [T; N],
    name: fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    let found = all.into_iter().find(|&value| name(value) == given);
    found.ok_or_else(|| UnknownName { kind, given: given.to_string(), known: all.map(name).to_vec() })
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};
    use std::str::FromStr;

    use super::*;
    use crate::control::Stage;
    use crate::language::WordKind;
    use crate::recognize::{Mode, View};
    use crate::tasks::Task;

    fn round_trip<T: Copy + Debug + Display + PartialEq + FromStr<Err = UnknownName>>(all: &[T]) {
        for value in all {
            assert_eq!(value.to_string().parse(), Ok(*value));
        }
    }

    #[test]
    fn names_round_trip() {
        round_trip(&Task::ALL);
        round_trip(&Mode::ALL);
        round_trip(&View::ALL);
        round_trip(&Stage::ALL);
        #[cfg(feature = "machine")]
        round_trip(&crate::reservoir::ReservoirKind::ALL);
        round_trip(&WordKind::ALL);
        let error = "dyck4".parse::<Task>().unwrap_err().to_string();
        assert!(error.starts_with("there is no task \"dyck4\"; the tasks are latch, copy,"));
        assert!(error.ends_with("anbn, palindrome and json"));
    }

    #[test]
    fn names_are_those_in_files() {
        for mode in Mode::ALL {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
        }
        for view in View::ALL {
            assert_eq!(serde_json::to_value(view).unwrap(), view.name());
        }
    }
}

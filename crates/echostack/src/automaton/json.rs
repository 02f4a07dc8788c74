//! Reading and writing automata as JSON, in the format that docs/format.md describes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Automaton, AutomatonError, Rule, Viability};
use crate::symbol::{Alphabet, AlphabetError, Lookahead, SymbolId};

/// The reason why a text is not an automaton. The message says what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct AutomatonJsonError(#[from] JsonFault);

#[derive(Debug, thiserror::Error)]
enum JsonFault {
    /// The text is not JSON, or not of the right form.
    #[error("this is not an automaton in JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The symbols are invalid.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// A symbol is used but not declared.
    #[error("the symbol {0:?} is used, but is not among the terminals or nonterminals")]
    Unknown(String),
    /// The rules, the accepting symbols or the viable stacks are invalid.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
}

#[derive(Serialize, Deserialize)]
struct AutomatonJson {
    terminals: Vec<String>,
    nonterminals: Vec<String>,
    /// The nonterminals that are states of a parser; omitted if they are those whose names begin with `#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parser_states: Option<Vec<String>>,
    accepting: Vec<String>,
    rules: Vec<RuleJson>,
    /// For each state of a stack, the state that each symbol leads to; symbols that are not listed lead nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    viable: Option<Vec<BTreeMap<String, usize>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleJson {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    anchored: bool,
    suffix: Vec<String>,
    lookahead: Option<LookaheadJson>,
    pop: u32,
    push: String,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LookaheadJson {
    Token(String),
    End { end: True },
}

/// The value `true`; `false` is an error.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
#[derive(Clone)]
struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("`end` must be true") }
    }
}

impl From<True> for bool {
    fn from(_: True) -> Self {
        true
    }
}

impl Automaton {
    /// Writes the automaton as JSON.
    pub fn to_json(&self) -> String {
        let name = |symbol: SymbolId| self.alphabet().name(symbol).to_string();
        let rule = |rule: &Rule| RuleJson {
            anchored: rule.anchored,
            suffix: rule.suffix.iter().copied().map(name).collect(),
            lookahead: rule.lookahead.map(|lookahead| match lookahead {
                Lookahead::Token(symbol) => LookaheadJson::Token(name(symbol)),
                Lookahead::End => LookaheadJson::End { end: True },
            }),
            pop: rule.pop,
            push: name(rule.push),
        };
        let json = AutomatonJson {
            terminals: self.alphabet().terminals().map(name).collect(),
            nonterminals: self.alphabet().nonterminals().map(name).collect(),
            parser_states: self.alphabet().unconventional_states(),
            accepting: self.accepting().iter().copied().map(name).collect(),
            rules: self.rules().iter().map(rule).collect(),
            viable: self.viability().map(|viability| viability.rows(name)),
        };
        serde_json::to_string_pretty(&json).unwrap_or_default()
    }

    /// Reads an automaton from JSON. Unknown fields at the top level are ignored, so that a work item for benchmarks
    /// can be read as an automaton.
    ///
    /// # Errors
    /// If the text does not have the right form, uses symbols that are not declared, or has invalid rules.
    pub fn from_json(text: &str) -> Result<Self, AutomatonJsonError> {
        Ok(Self::read_json(text)?)
    }

    fn read_json(text: &str) -> Result<Self, JsonFault> {
        let json: AutomatonJson = serde_json::from_str(text)?;
        let alphabet = Alphabet::from_file(json.terminals, json.nonterminals, json.parser_states)?;
        let symbol = |name: &String| alphabet.symbol(name).ok_or_else(|| JsonFault::Unknown(name.clone()));
        let rule = |rule: &RuleJson| -> Result<Rule, JsonFault> {
            Ok(Rule {
                anchored: rule.anchored,
                suffix: rule.suffix.iter().map(symbol).collect::<Result<_, _>>()?,
                lookahead: match &rule.lookahead {
                    None => None,
                    Some(LookaheadJson::Token(name)) => Some(Lookahead::Token(symbol(name)?)),
                    Some(LookaheadJson::End { .. }) => Some(Lookahead::End),
                },
                pop: rule.pop,
                push: symbol(&rule.push)?,
            })
        };
        let rules = json.rules.iter().map(rule).collect::<Result<_, _>>()?;
        let accepting = json.accepting.iter().map(symbol).collect::<Result<_, _>>()?;
        let Some(states) = &json.viable else { return Ok(Self::new(alphabet, rules, accepting)?) };
        let row = |state: &BTreeMap<String, usize>| {
            state.iter().map(|(name, &to)| Ok((symbol(name)?, to))).collect::<Result<Vec<_>, JsonFault>>()
        };
        let rows = states.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        let viability = Viability::given(alphabet.len(), &rows)?;
        Ok(Self::new(alphabet, rules, accepting)?.with_viability(viability)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::Task;

    #[test]
    fn automata_come_back_as_they_were() {
        for task in Task::ALL {
            let Some(automaton) = task.automaton() else { continue };
            let again = Automaton::from_json(&automaton.to_json()).unwrap();
            assert_eq!(again.rules(), automaton.rules());
            assert_eq!(again.to_json(), automaton.to_json());
        }
        let text = r#"{"terminals": ["a"], "nonterminals": ["S"], "accepting": ["S"], "more": 1,
            "rules": [{"anchored": true, "suffix": ["a"], "lookahead": {"end": true}, "pop": 1, "push": "S"}]}"#;
        let automaton = Automaton::from_json(text).unwrap();
        assert_eq!(automaton.rules()[0].lookahead, Some(Lookahead::End));
        assert_eq!(Automaton::from_json(&automaton.to_json()).unwrap().rules(), automaton.rules());
        let viability = Viability::given(2, &[vec![(SymbolId::new(0), 1)], vec![(SymbolId::new(1), 0)]]).unwrap();
        let automaton = automaton.with_viability(viability).unwrap();
        assert_eq!(Automaton::from_json(&automaton.to_json()).unwrap().to_json(), automaton.to_json());
        let state = automaton.to_json().replace("\"a\": 1", "\"a\": 2");
        assert!(Automaton::from_json(&state).unwrap_err().to_string().contains("viable stacks name a state"));
    }

    #[test]
    fn faulty_texts_are_refused() {
        let with = |rules: &str| {
            let head = r#""terminals": ["a"], "nonterminals": ["S"], "accepting": ["S"]"#;
            Automaton::from_json(&format!("{{{head}, \"rules\": [{rules}]}}")).unwrap_err().to_string()
        };
        assert!(with(r#"{"suffix": ["b"], "lookahead": null, "pop": 1, "push": "S"}"#).contains("\"b\" is used"));
        assert!(with(r#"{"suffix": ["a"], "lookahead": null, "pop": 9999, "push": "S"}"#).contains("pops 9999"));
        assert!(
            with(r#"{"suffix": ["a"], "lookahead": {"end": false}, "pop": 1, "push": "S"}"#)
                .contains("not an automaton")
        );
        assert!(with("7").contains("not an automaton"));
    }

    #[test]
    fn viable_stacks_that_would_need_too_much_memory_are_refused() {
        // Less than a megabyte of text, but 6 billion transitions.
        let terminals: Vec<String> = (0..60_000).map(|number| format!("\"t{number}\"")).collect();
        let (terminals, rows) = (terminals.join(","), vec!["{}"; 100_000].join(","));
        let text = format!(
            r#"{{"terminals": [{terminals}], "nonterminals": ["S"], "rules": [], "accepting": ["S"], "viable": [{rows}]}}"#
        );
        let refused = Automaton::from_json(&text).unwrap_err();
        assert!(refused.to_string().contains("viable"), "{refused}");
    }
}

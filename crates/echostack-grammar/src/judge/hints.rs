//! What a grammar says about how its trees and its messages are shown, in comments that other tools skip.
//!
//! A line that begins with `// echostack:` is a hint:
//! ```text
//! // echostack: list Text
//! // echostack: inline Items
//! // echostack: example NAME "a1"
//! ```
//! In trees, what is nested in a *list* by recursion stands side by side, and rules that are *inline* have no node: their
//! children are those of the rule around them. The *example* is a text of a token whose name does not say enough.

use std::collections::{BTreeMap, BTreeSet};

use echostack::recognize::Tree;
use echostack::{Alphabet, SymbolId};

/// What a hint begins with.
const HINT: &str = "// echostack: ";

/// What a grammar says about its trees and its tokens. Hints about what is not in the grammar have no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    lists: BTreeSet<String>,
    inline: BTreeSet<String>,
    examples: BTreeMap<String, String>,
}

impl Hints {
    /// Reads the hints of a grammar. Lines that are none are skipped.
    pub(crate) fn of(grammar: &str) -> Self {
        let mut this = Self::default();
        for line in grammar.lines() {
            let Some((kind, rest)) = line.strip_prefix(HINT).and_then(|hint| hint.split_once(' ')) else { continue };
            match kind {
                "list" => _ = this.lists.insert(rest.to_string()),
                "inline" => _ = this.inline.insert(rest.to_string()),
                "example" => {
                    if let Some((name, text)) = rest.split_once(' ')
                        && let Ok(text) = serde_json::from_str(text)
                    {
                        this.examples.insert(name.to_string(), text);
                    }
                }
                _ => {}
            }
        }
        this
    }

    /// Returns a tree as it is shown.
    pub(crate) fn shape(&self, tree: Tree, alphabet: &Alphabet) -> Tree {
        if self.lists.is_empty() && self.inline.is_empty() {
            return tree;
        }
        let among = |names: &BTreeSet<String>| -> BTreeSet<SymbolId> {
            alphabet.nonterminals().filter(|&symbol| names.contains(alphabet.name(symbol))).collect()
        };
        let (lists, inline) = (among(&self.lists), among(&self.inline));
        tree.without(|own, parent| inline.contains(&own) || own == parent && lists.contains(&own))
    }

    /// Returns a text of a token, if its name does not say enough.
    pub(crate) fn example(&self, name: &str) -> Option<&str> {
        self.examples.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Grammar, Judge, Subject};

    fn judge(hints: &str) -> Judge {
        let text = format!("{hints}%start L\n%%\nL: P | L ',' P;\nP: 'x' | '[' Items ']';\nItems: P | Items P;\n");
        let grammar = Grammar::new("lists", &text, Encoding::Auto).unwrap();
        Judge::new(Subject::of_grammar(grammar, None).table(&()).unwrap().into()).unwrap()
    }

    #[test]
    fn lists_stand_side_by_side_only_where_the_grammar_says_so() {
        let tree = |hints: &str| judge(hints).parse("x,[xx],x").unwrap().to_string();
        assert_eq!(tree(""), "(L (L (L (P x)) , (P [ (Items (Items (P x)) (P x)) ])) , (P x))");
        assert_eq!(
            tree("// echostack: list L\n// echostack: list Items\n"),
            "(L (P x) , (P [ (Items (P x) (P x)) ]) , (P x))"
        );
        assert_eq!(
            tree("// echostack: list L\n// echostack: inline Items\n"),
            "(L (P x) , (P [ (P x) (P x) ]) , (P x))"
        );
        // The root stays, whatever is said about it.
        assert_eq!(tree("// echostack: inline L\n"), "(L (P x) , (P [ (Items (Items (P x)) (P x)) ]) , (P x))");
    }

    #[test]
    fn an_example_stands_behind_a_name() {
        let expected = |hints: &str| judge(hints).check("x,").unwrap_err().expected();
        assert_eq!(expected("").as_deref(), Some("x or '['"));
        assert_eq!(expected("// echostack: example x \"a b\"\n").as_deref(), Some("x (such as a b) or '['"));
    }

    #[test]
    fn what_is_no_hint_is_a_comment() {
        for text in ["// echostack: list\n", "// echostack: example x a\n", "// echostack: other x\n", "// list L\n"] {
            assert_eq!(Hints::of(text), Hints::default(), "{text}");
        }
    }
}

//! Limits on grammars and lexers, whose texts may come from strangers.

use echostack::automaton::Viability;
use echostack::file::read_limits;

/// What a grammar and its lexer may have at most.
///
/// ```
/// use echostack_grammar::{Encoding, Grammar, GrammarLimits};
/// let limits: GrammarLimits = "productions=2".parse()?;
/// let refused = Grammar::new_within("sums", "%%\nS: S '+' 'n' | S '-' 'n' | 'n';\n", Encoding::Auto, &limits).unwrap_err();
/// assert_eq!(refused.to_string(), "the grammar has 3 productions or more; the limit is 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrammarLimits {
    /// The number of bytes of each file.
    pub bytes: u64,
    /// The number of terminals and nonterminals.
    pub symbols: u64,
    /// The number of productions.
    pub productions: u64,
    /// The number of states of the LR(1) table.
    pub states: u64,
    /// The number of entries of the LR(1) table: one for each symbol in each state.
    pub entries: u64,
    /// The number of transitions between the states of viable stacks, if the grammar is encoded by the states of its table:
    /// one for each symbol and each state of the table, in each state.
    pub transitions: u64,
    /// The number of states of the lexer's automata, in all its start states together.
    pub lexer_states: u64,
}

impl Default for GrammarLimits {
    fn default() -> Self {
        Self {
            bytes: 1 << 24,
            symbols: 1 << 14,
            productions: 1 << 16,
            states: 1 << 14,
            entries: 1 << 24,
            transitions: Viability::MAX_TRANSITIONS as u64,
            lexer_states: 1 << 16,
        }
    }
}

impl GrammarLimits {
    /// The names of the limits.
    pub const NAMES: [&str; 7] =
        ["bytes", "symbols", "productions", "states", "entries", "transitions", "lexer_states"];

    /// Sets the limit with this name, and returns whether there is one.
    pub fn set(&mut self, name: &str, most: u64) -> bool {
        let limit = match name {
            "bytes" => &mut self.bytes,
            "symbols" => &mut self.symbols,
            "productions" => &mut self.productions,
            "states" => &mut self.states,
            "entries" => &mut self.entries,
            "transitions" => &mut self.transitions,
            "lexer_states" => &mut self.lexer_states,
            _ => return false,
        };
        *limit = most;
        true
    }
}

impl std::str::FromStr for GrammarLimits {
    type Err = String;

    /// Reads limits such as `productions=1000,states=5000`. Limits that are not named have their defaults.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut limits = Self::default();
        read_limits(text, &Self::NAMES, |name, most| limits.set(name, most))?;
        Ok(limits)
    }
}

//! Grammars as teachers: a grammar in Yacc's syntax becomes an automaton of ours, words to learn from, and a lexer.
//!
//! **For** people who have a grammar and want a machine that learned it. The grammar is read and its LR(1) table is built by
//! grmtools; everything after that is about machines: how the table becomes [rules](Encoding), how [words](Grammar) are drawn,
//! and how a conflict is told in words.
//!
//! ```
//! use echostack::{Language, Oracle, Verdict, judge};
//! use echostack_grammar::{Encoding, Grammar};
//! use std::sync::Arc;
//!
//! let grammar = Grammar::new("lists", "%start L\n%%\nL: '[' ']' | '[' E ']';\nE: 'x' | E ',' 'x';\n", Encoding::Auto)?;
//! let oracle = Arc::new(Oracle::strict(grammar.automaton().clone())?);
//! let word = grammar.automaton().alphabet().word("[ x , x ]".split(' '))?;
//! assert_eq!(judge(&oracle, &word, Default::default(), &mut ()), Verdict::Accept);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conflict;
mod count;
mod encode;
mod lexer;
mod probe;
mod table;

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub use encode::Encoding;
pub use lexer::{Lexeme, Lexer, LexerError, Place, place};
pub use table::{Action, Production, Table};

use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use echostack::{Automaton, AutomatonError, Language, SymbolId, Word};
use rand_chacha::ChaCha8Rng;

use crate::count::Counts;

/// Why a grammar was refused.
#[derive(Debug, thiserror::Error)]
pub enum GrammarError {
    /// A file could not be read.
    #[error("could not read {path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why; told above, and so no cause of its own.
        error: std::io::Error,
    },
    /// The text is no grammar.
    #[error("{0}")]
    Syntax(String),
    /// The grammar is ambiguous, or needs more than one token of lookahead.
    #[error("{0}")]
    Conflict(String),
    /// The grammar has too many symbols or states.
    #[error("the grammar needs {0} states and symbols, but at most {MAX_SYMBOLS} are possible")]
    TooLarge(usize),
    /// The start rule can derive itself, so that a word has infinitely many derivations.
    #[error("the start rule {0} can derive itself alone; its words would have infinitely many readings")]
    Cyclic(String),
    /// Nonterminals derive no word.
    #[error(
        "no word can be derived from {}: every production needs another such nonterminal, or itself; \
         add one that comes to an end, or leave them out",
        .0.join(", ")
    )]
    Unproductive(Vec<String>),
    /// Precedences forbid every continuation of some beginnings of words, and which ones is too much to compute.
    #[error(
        "the precedences forbid every continuation of {0:?}, although the rules have some; \
         and too many stacks are like that to tell them apart: write the rules without such precedences"
    )]
    DeadEnds(String),
    /// The suffixes of the stack do not decide, but they were asked for.
    #[error("no suffix of the stack, however long, decides what to do in this grammar; use the state encoding")]
    NotBySuffix,
    /// Suffixes would decide, but with too many rules, or too many viable stacks.
    #[error("the rules with suffixes of the stack would be too many for this grammar; use the state encoding")]
    LargeBySuffix,
    /// The automaton is faulty.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// The lexer is faulty.
    #[error(transparent)]
    Lexer(#[from] LexerError),
}

/// The most symbols and states of a grammar.
pub const MAX_SYMBOLS: usize = 1 << 14;

/// The largest grammar or lexer file that is read, in bytes.
const MAX_FILE: u64 = 1 << 24;

/// A grammar with its LR(1) table, as a language that a machine can learn.
#[derive(Debug)]
pub struct Grammar {
    name: String,
    table: Table,
    automaton: Automaton,
    encoding: Encoding,
    /// How many words of which length there are, up to some length.
    counts: Mutex<Option<Arc<Counts>>>,
}

impl Grammar {
    /// A grammar from its text in Yacc's syntax. Tokens in quotes and names declared with `%token` are terminals.
    ///
    /// # Errors
    /// If the text is no grammar, or has a conflict that precedences do not settle.
    pub fn new(name: impl Into<String>, yacc: &str, encoding: Encoding) -> Result<Self, GrammarError> {
        let grammar = YaccGrammar::<u32>::new_with_storaget(YaccKind::Original(YaccOriginalActionKind::NoAction), yacc)
            .map_err(|errors| GrammarError::Syntax(lexer::explain(yacc, &errors)))?;
        let table = table::build(&grammar)?;
        let (automaton, encoding) = encode::encode(&table, encoding)?;
        Ok(Self { name: name.into(), table, automaton, encoding, counts: Mutex::new(None) })
    }

    /// A grammar and its lexer, if it has one, from a folder with `grammar.y` and `lexer.l`, or from one file in Yacc's
    /// syntax.
    ///
    /// # Errors
    /// If a file cannot be read or is faulty.
    pub fn open(path: &Path, encoding: Encoding) -> Result<(Self, Option<Lexer>), GrammarError> {
        let name = path.file_stem().map_or_else(|| "grammar".to_string(), |name| name.to_string_lossy().into_owned());
        let folder = path.is_dir();
        let yacc = if folder { path.join("grammar.y") } else { path.to_path_buf() };
        let grammar = Self::new(name, &read(&yacc)?, encoding)?;
        let lex = path.join("lexer.l");
        let lexer = if folder && lex.exists() { Some(Lexer::new(&read(&lex)?)?) } else { None };
        Ok((grammar, lexer))
    }

    /// The LR(1) table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How the table was made into rules: [`Encoding::Suffix`] or [`Encoding::State`].
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The counts of words up to this length.
    fn counts(&self, longest: usize) -> Option<Arc<Counts>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.as_ref().is_none_or(|counts| counts.longest() < longest) {
            *counts = Counts::new(&self.table, longest).map(Arc::new);
        }
        counts.clone()
    }
}

fn read(path: &Path) -> Result<String, GrammarError> {
    let io = |error| GrammarError::Io { path: path.display().to_string(), error };
    let length = std::fs::metadata(path).map_err(io)?.len();
    if length > MAX_FILE {
        return Err(GrammarError::Syntax(format!(
            "{} has {length} bytes; at most {MAX_FILE} are read",
            path.display()
        )));
    }
    std::fs::read_to_string(path).map_err(io)
}

fn words(all: Vec<Vec<usize>>) -> Vec<Word> {
    all.into_iter().map(|word| Word::Symbols(word.into_iter().map(SymbolId::new).collect())).collect()
}

impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl Language for Grammar {
    fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// A length is drawn uniformly from those that words have, then a word uniformly from those of that length (if the
    /// grammar is unambiguous without its precedences). Words of more than 5,000 tokens are not drawn.
    fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word> {
        let symbols = self.counts(count::LONGEST.min(*lengths.end()))?.draw(&self.table, random, &lengths)?;
        Some(Word::Symbols(symbols.into_iter().map(SymbolId::new).collect()))
    }

    /// For each production at each place where its rule is used, a shortest word with it there.
    fn covering(&self) -> Vec<Word> {
        words(count::covering(&self.table))
    }

    /// A shortest way to each state of the table with each token as the next one, and to each step between states.
    fn probes(&self) -> Vec<Word> {
        words(probe::probes(&self.table))
    }
}

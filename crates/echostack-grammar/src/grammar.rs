//! Grammars as languages: words drawn from a grammar, words that cover it, and its automaton.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use echostack::language::Language;
use echostack::{Automaton, SymbolId, Word};
use rand_chacha::ChaCha8Rng;

use crate::build::build;
use crate::count::{self, Counts};
use crate::encode::{self, Encoding};
use crate::error::GrammarError;
use crate::lexer::{self, Lexer};
use crate::probe;
use crate::table::LrTable;

/// The largest grammar or lexer file that is read, in bytes.
const MAX_FILE: u64 = 1 << 24;

/// A grammar with its LR(1) table, as a language that a machine can learn.
#[derive(Debug)]
pub struct Grammar {
    name: String,
    table: LrTable,
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
        let table = build(&grammar)?;
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
    pub fn table(&self) -> &LrTable {
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

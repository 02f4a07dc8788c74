//! Grammars as languages: the automaton of a grammar, words drawn from the grammar, and words that cover it.

use std::fmt;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use echostack::certify::{CertifyError, Translation};
use echostack::file::{FileError, read_text};
use echostack::language::Language;
use echostack::{Automaton, Control, Oracle, SymbolId, Word};
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::lex::lexer::Lexer;
use crate::lr::build::build;
use crate::lr::count::{self, Counts};
use crate::lr::encode::{self, Encoding};
use crate::lr::probe;
use crate::lr::table::LrTable;
use crate::meaning::translation::follows;
use crate::text::error::{GrammarError, Warning};
use crate::text::limits::GrammarLimits;
use crate::text::source::Source;
use crate::yacc::reading::rules;

/// The number of derivations that are drawn until one is a word.
const DRAWS: usize = 100;

/// A grammar with its LR(1) table, as a language that a machine can learn.
#[derive(Debug)]
pub struct Grammar {
    name: String,
    source: String,
    table: LrTable,
    automaton: Automaton,
    encoding: Encoding,
    warnings: Vec<Warning>,
    /// The numbers of words by length, up to the longest length that was needed so far.
    counts: Mutex<Option<Arc<Counts>>>,
}

impl Grammar {
    /// Creates a grammar from its text in Yacc syntax. Tokens in quotes and names declared with `%token` are terminals.
    ///
    /// # Errors
    /// If the text is not a valid grammar, or has a conflict that precedences do not resolve and `%expect` does not
    /// allow.
    pub fn new(name: impl Into<String>, yacc: &str, encoding: Encoding) -> Result<Self, GrammarError> {
        Self::new_within(name, yacc, encoding, &GrammarLimits::default())
    }

    /// Creates a grammar like [`Grammar::new`], within limits.
    ///
    /// # Errors
    /// Those of [`Grammar::new`], and [`GrammarError::Limit`].
    pub fn new_within(
        name: impl Into<String>,
        yacc: &str,
        encoding: Encoding,
        limits: &GrammarLimits,
    ) -> Result<Self, GrammarError> {
        Self::read(name.into(), Source { file: None, text: yacc }, encoding, limits)
    }

    fn read(
        name: String,
        source: Source<'_>,
        encoding: Encoding,
        limits: &GrammarLimits,
    ) -> Result<Self, GrammarError> {
        GrammarError::within("bytes", source.text.len(), limits.bytes)?;
        let (rules, mut warnings) = rules(source)?;
        let (table, resolved) = build(source, &rules, limits)?;
        warnings.extend(resolved);
        let (automaton, encoding) = encode::encode(&table, encoding, limits)?;
        let source = source.text.to_string();
        Ok(Self { name, source, table, automaton, encoding, warnings, counts: Mutex::new(None) })
    }

    /// Reads a grammar and its lexer, if it has one: a folder with `grammar.y` and `lexer.l`, the former of these files, or
    /// a file `NAME.y` with `NAME.l` next to it.
    ///
    /// # Errors
    /// If a file cannot be read, or its contents are invalid.
    pub fn open(path: &Path, encoding: Encoding) -> Result<(Self, Option<Lexer>), GrammarError> {
        Self::open_within(path, encoding, &GrammarLimits::default())
    }

    /// Reads a grammar and its lexer like [`Grammar::open`], within limits.
    ///
    /// # Errors
    /// Those of [`Grammar::open`], and [`GrammarError::Limit`].
    pub fn open_within(
        path: &Path,
        encoding: Encoding,
        limits: &GrammarLimits,
    ) -> Result<(Self, Option<Lexer>), GrammarError> {
        let name = path.file_stem().map_or_else(|| "grammar".to_string(), |name| name.to_string_lossy().into_owned());
        let folder = path.is_dir();
        let yacc = if folder { path.join("grammar.y") } else { path.to_path_buf() };
        let source = Source { file: Some(&yacc.to_string_lossy()), text: &read(&yacc, limits)? };
        let grammar = Self::read(name, source, encoding, limits)?;
        // The file grammar.y means the same as its folder, unless it has a lexer of its name.
        let own = (!folder).then(|| yacc.with_extension("l"));
        let usual = (yacc.file_name() == Some("grammar.y".as_ref())).then(|| yacc.with_file_name("lexer.l"));
        let lex = own.into_iter().chain(usual).find(|lex| lex.is_file());
        let lexer = lex.map(|lex| read_lexer(&lex, limits)).transpose()?;
        Ok((grammar, lexer))
    }

    /// Returns the text that the grammar was created from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns what in the grammar is probably not intended, such as parts that no word needs.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the LR(1) table.
    pub fn table(&self) -> &LrTable {
        &self.table
    }

    /// Returns the encoding of the table as rules: [`Encoding::Suffix`] or [`Encoding::State`].
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Checks that an automaton accepts the words of the grammar's text, and no others, like
    /// [`Subject::check_translation`](crate::Subject::check_translation).
    ///
    /// # Errors
    /// Those of [`Subject::check_translation`](crate::Subject::check_translation).
    pub fn check_translation(&self, oracle: &Oracle, control: &dyn Control) -> Result<Translation, CertifyError> {
        follows(&self.source, oracle, control)
    }

    /// Returns whether what the rules derive is a word, which the resolution of conflicts may forbid.
    fn is_word(&self, derived: &[usize]) -> bool {
        !self.table.has_resolutions || self.table.accepts(derived)
    }

    /// Returns the numbers of words up to this length, which are computed if necessary.
    fn counts(&self, longest: usize) -> Option<Arc<Counts>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.as_ref().is_none_or(|counts| counts.longest() < longest) {
            *counts = Counts::new(&self.table, longest).map(Arc::new);
        }
        counts.clone()
    }
}

fn read(path: &Path, limits: &GrammarLimits) -> Result<String, GrammarError> {
    read_text(path, limits.bytes).map_err(|error| match error {
        FileError::Io { path, error } if error.kind() == ErrorKind::InvalidData => {
            GrammarError::Syntax(format!("{}: the file is not UTF-8: {error}; save it as UTF-8", path.display()))
        }
        FileError::Io { path, error } => GrammarError::Io { path: path.display().to_string(), error },
        other => GrammarError::Syntax(format!("{}: {other}", path.display())),
    })
}

fn read_lexer(path: &Path, limits: &GrammarLimits) -> Result<Lexer, GrammarError> {
    let (name, text) = (path.display().to_string(), read(path, limits)?);
    let mut lexer =
        Lexer::new_within(&text, limits).map_err(|error| GrammarError::Lexer { path: name.clone(), error })?;
    lexer.name_file(&name);
    Ok(lexer)
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

    /// Draws a length uniformly from the lengths that words have, and then a word uniformly from the words of that
    /// length (if the grammar is unambiguous without its precedences). Words of more than 5,000 tokens are not drawn.
    fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word> {
        let counts = self.counts(count::LONGEST.min(*lengths.end()))?;
        for _ in 0..DRAWS {
            let symbols = counts.draw(&self.table, random, &lengths)?;
            if self.is_word(&symbols) {
                return Some(Word::Symbols(symbols.into_iter().map(SymbolId::new).collect()));
            }
        }
        // The resolution of conflicts forbids almost all derivations.
        let mut covering = self.covering();
        covering.retain(|word| lengths.contains(&word.len()));
        covering.choose(random).cloned()
    }

    /// Returns, for each production and each place where its rule is used, a shortest word that uses the production
    /// there. Words that the resolution of conflicts forbids are left out.
    fn covering(&self) -> Vec<Word> {
        let mut covering = count::covering(&self.table);
        covering.retain(|word| self.is_word(word));
        words(covering)
    }

    /// Returns a shortest path to each state of the table followed by each token, and a shortest path through each
    /// transition between states.
    fn probes(&self) -> Vec<Word> {
        words(probe::probes(&self.table))
    }
}

//! Texts of a grammar, for those who test a program that reads them: valid ones, ones with a mistake, and such that use
//! every production.
//!
//! `draw.rs` draws words from the rules, `strings.rs` strings from a lexer's rules, and `spell.rs` makes a text of
//! both; `source.rs` has them together, and `params.rs` says which texts are wanted. `tree.rs` finds out which
//! productions a text uses. `damage.rs` makes mistakes, `splice.rs` exchanges parts of examples, and `cover.rs` looks
//! for texts that use what no text has used yet.

mod cover;
mod damage;
mod draw;
mod params;
mod source;
mod spell;
mod splice;
mod strings;
mod tree;

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use self::cover::{Cover, Coverage, Covering, TooManyPairs};
pub use self::damage::TextEdit;
use self::damage::damage;
pub use self::params::{SampledText, TextKind, TextParams};
use self::source::Source;
use self::splice::Examples;
use crate::grammar::Grammar;
use crate::judge::{Fault, FaultKind};
use crate::lex::lexer::Lexer;

/// The number of texts that are drawn until one is as asked for, and has not been drawn before.
const ATTEMPTS: usize = 1000;
/// The maximum number of texts that are remembered, so that they are not drawn again.
const MOST_SEEN: usize = 1 << 20;
/// The number of characters that a token is expected to have at first.
const CHARACTERS: f64 = 4.;

/// Draws texts of a grammar, without an end, beginning at once, whatever the size of the grammar.
///
/// The lexer splits each text into the tokens that were meant, and the parser accepts it unless it is a near miss. Unless
/// [`TextParams::distinct`] says otherwise, no text is drawn twice, and the texts end if no other ones are found.
///
/// ```
/// use echostack_grammar::{Encoding, Grammar, Lexer, TextParams, TextSampler};
/// let grammar = Grammar::new("sums", "%token n\n%%\nS: S '+' n | n;\n", Encoding::Auto)?;
/// let lexer = Lexer::new("%%\n[0-9]+ \"n\"\n\\+ \"+\"\n[ ]+ ;\n")?;
/// for text in TextSampler::new(&grammar, Some(&lexer), TextParams::default()).take(10) {
///     assert!(text.text.split('+').all(|number| number.trim().parse::<f64>().is_ok()));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TextSampler<'a> {
    source: Source<'a>,
    params: TextParams,
    random: ChaCha8Rng,
    examples: Examples,
    /// Digests of the texts that were drawn.
    seen: HashSet<u64>,
    /// The number of characters and of tokens that were drawn.
    drawn: (usize, usize),
}

impl fmt::Debug for TextSampler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextSampler").field("params", &self.params).finish_non_exhaustive()
    }
}

impl<'a> TextSampler<'a> {
    /// Prepares to draw texts of a grammar. Without a lexer, they are names of tokens with a blank between them.
    pub fn new(grammar: &'a Grammar, lexer: Option<&'a Lexer>, params: TextParams) -> Self {
        let source = Source::new(grammar, lexer);
        let (examples, random) = (Examples::new(&source), ChaCha8Rng::seed_from_u64(params.seed));
        Self { source, params, random, examples, seen: HashSet::new(), drawn: (0, 0) }
    }

    /// Adds an example, whose parts are used in spliced texts.
    ///
    /// # Errors
    /// If it is not valid. The fault is its first mistake.
    pub fn add_example(&mut self, text: &str) -> Result<(), Box<Fault>> {
        if self.examples.add(&self.source, text) {
            // It is not drawn itself.
            self.is_new(text);
            return Ok(());
        }
        Err(Box::new(self.source.fault(text).unwrap_or_else(|| Fault::new(text, 0, FaultKind::NoTree))))
    }

    /// Returns texts that use each production, or each pair of productions, at least once. The kind of texts does not
    /// matter: they are valid. They are of the lengths that are asked for, so that short ones may not use everything.
    ///
    /// # Errors
    /// If there are too many pairs.
    pub fn cover(self, what: Cover) -> Result<Covering<'a>, TooManyPairs> {
        let Self { source, params, random, .. } = self;
        Covering::new(source, params, random, what)
    }

    /// Draws a text that may not be as asked for.
    fn draw(&mut self) -> Option<SampledText> {
        if self.params.kind == TextKind::Spliced {
            let text = self.examples.draw(&self.source, &mut self.random, &self.params.tokens)?;
            return Some(SampledText { text, mistake: None });
        }
        let text = self.valid()?;
        if self.params.kind == TextKind::Valid {
            return Some(SampledText { text, mistake: None });
        }
        let (text, edit, fault) = damage(&mut self.source, &mut self.random, &text)?;
        Some(SampledText { text, mistake: Some((edit, fault)) })
    }

    /// Draws a valid text of the lengths that are asked for.
    fn valid(&mut self) -> Option<String> {
        let TextParams { tokens, characters, .. } = &self.params;
        let mut budget = self.random.random_range(tokens.clone());
        if *characters.end() < usize::MAX {
            // The lengths of the texts so far tell how many tokens these characters will have.
            let (written, read) = self.drawn;
            let each = (CHARACTERS + written as f64) / (1. + read as f64);
            let wanted = self.random.random_range(characters.clone());
            budget = ((wanted as f64 / each) as usize).clamp(*tokens.start(), *tokens.end());
        }
        let word = self.source.word(&mut self.random, budget, *tokens.end())?;
        if !tokens.contains(&word.len()) {
            return None;
        }
        let text = self.source.spell(&mut self.random, &word)?;
        let length = text.chars().count();
        self.drawn = (self.drawn.0 + length, self.drawn.1 + word.len());
        self.params.characters.contains(&length).then_some(text)
    }

    /// Returns whether a text was not drawn before.
    fn is_new(&mut self, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.seen.len() >= MOST_SEEN || self.seen.insert(hasher.finish())
    }
}

impl Iterator for TextSampler<'_> {
    type Item = SampledText;

    fn next(&mut self) -> Option<SampledText> {
        if self.params.tokens.is_empty() || self.params.characters.is_empty() {
            return None;
        }
        // Nothing fits, so nothing is tried. Spliced texts come from examples, which are words.
        let is_drawn = self.params.kind != TextKind::Spliced;
        if is_drawn && self.source.derivations.least().is_none_or(|least| least > *self.params.tokens.end()) {
            return None;
        }
        (0..ATTEMPTS).find_map(|_| {
            let text = self.draw()?;
            let fits = self.params.characters.contains(&text.text.chars().count());
            (fits && (!self.params.distinct || self.is_new(&text.text))).then_some(text)
        })
    }
}

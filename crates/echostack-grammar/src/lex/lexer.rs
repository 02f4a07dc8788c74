//! Lexers, which split texts into tokens.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::dfa::{Dfa, TooLarge};
use super::file::{self, LexFile, LexRule, Rule};
use super::flex;
use crate::text::error::{LexerError, Warning};
use crate::text::limits::GrammarLimits;
use crate::text::source::Source;

/// A lexer: regular expressions, with the names of the tokens that they match.
///
/// At each place, the rule with the longest match counts, and among those the first one. All rules of a start state
/// form one deterministic automaton, so each byte is read once, however many rules there are.
///
/// ```
/// use echostack_grammar::Lexer;
/// let lexer = Lexer::new("%%\n[0-9]+ \"NUMBER\"\n\\+ \"+\"\n[ ]+ ;\n")?;
/// let (tokens, fault) = lexer.tokens("12 + 3");
/// let names: Vec<&str> = tokens.iter().map(|token| token.name).collect();
/// assert_eq!((names, fault), (vec!["NUMBER", "+", "NUMBER"], None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lexer {
    source: String,
    names: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    /// The automaton of each start state. The first one is the initial state.
    pub(crate) states: Vec<Dfa>,
    warnings: Vec<Warning>,
    /// Where the tokens with each name come from.
    origins: Vec<Origin>,
}

/// Where the tokens with a name come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// No rule that can match returns them.
    Nowhere,
    /// A rule returns whatever character it matches.
    OwnText,
    /// A rule has this name.
    Rule,
}

impl fmt::Debug for Lexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lexer").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Lexer {
    /// Creates a lexer from its text in Lex syntax.
    ///
    /// # Errors
    /// If the text is not a valid lexer, or if its automaton is too large.
    pub fn new(source: &str) -> Result<Self, LexerError> {
        Self::new_within(source, &GrammarLimits::default())
    }

    /// Creates a lexer like [`Lexer::new`], within limits.
    ///
    /// # Errors
    /// Those of [`Lexer::new`], and if a limit is exceeded.
    pub fn new_within(source: &str, limits: &GrammarLimits) -> Result<Self, LexerError> {
        let within = |what, given: usize, most| {
            if given as u64 <= most {
                return Ok(());
            }
            Err(LexerError::new(format!("the lexer has {given} {what} or more; the limit is {most}")))
        };
        within("bytes", source.len(), limits.bytes)?;
        let LexFile { states, rules, warnings } = read(source)?;
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut names = Vec::new();
        let mut number = |name| {
            *numbers.entry(name).or_insert_with(|| {
                names.push(str::to_string(name));
                names.len() as u32 - 1
            })
        };
        let known = rules.iter().map(|rule| Rule { name: rule.name.as_deref().map(&mut number), change: rule.change });
        let known: Vec<Rule> = known.collect();
        let mut matching = vec![false; rules.len()];
        let mut automata: Vec<Dfa> = Vec::new();
        let mut total = 0;
        for (number, state) in states.iter().enumerate() {
            let own = rules.iter().enumerate().filter(|(_, rule)| rule.applies(number, state));
            let own: Vec<_> = own.map(|(at, rule)| (at as u32, &rule.pattern)).collect();
            let dfa = Dfa::new(&own, &known).map_err(|TooLarge| {
                LexerError::new(
                    "the rules need an automaton of more than 16 MiB; shorten counted repetitions such as [a-z]{1,1000}",
                )
            })?;
            dfa.matching().iter().for_each(|&rule| matching[rule as usize] = true);
            total += dfa.states();
            within("states", total, limits.lexer_states)?;
            automata.push(dfa);
        }
        let mut origins = vec![Origin::Nowhere; names.len()];
        for ((rule, known), _) in rules.iter().zip(&known).zip(&matching).filter(|(_, matches)| **matches) {
            let origin = if rule.own_text { Origin::OwnText } else { Origin::Rule };
            known.name.into_iter().for_each(|name| origins[name as usize] = origin.max(origins[name as usize]));
        }
        let warnings = all_warnings(source, warnings, &rules, &matching);
        Ok(Self { source: source.to_string(), names, origins, rules: known, states: automata, warnings })
    }

    /// Returns the text that the lexer was created from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the contents of the text that the lexer was created from.
    pub(crate) fn file(&self) -> LexFile {
        // The text was read without an error before.
        read(&self.source).unwrap_or(LexFile { states: Vec::new(), rules: Vec::new(), warnings: Vec::new() })
    }

    /// Returns the names of the tokens that the lexer produces.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the names of tokens that a text can contain, and whether a rule names the token. Otherwise, its name is
    /// the character itself, which a rule returns for a whole class of characters.
    pub(crate) fn produced(&self) -> impl Iterator<Item = (&str, bool)> {
        let names = self.names.iter().zip(&self.origins).filter(|(_, origin)| **origin != Origin::Nowhere);
        names.map(|(name, &origin)| (name.as_str(), origin == Origin::Rule))
    }

    /// Returns what in the lexer is probably not intended, such as rules that never match.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Names the file that the lexer was read from in its warnings.
    pub(crate) fn name_file(&mut self, path: &str) {
        self.warnings.iter_mut().for_each(|warning| *warning = Warning::new(format!("{path}:{warning}")));
    }
}

/// Reads a lexer file in either dialect.
fn read(source: &str) -> Result<LexFile, LexerError> {
    if flex::is_flex(source) { flex::read(source) } else { file::read(source) }
}

/// Adds warnings about rules that never match, in the order of the file.
fn all_warnings(
    source: &str,
    mut warnings: Vec<(usize, String)>,
    rules: &[LexRule],
    matching: &[bool],
) -> Vec<Warning> {
    // A rule for a class of characters is idle if it matches none of them.
    let matching = rules.iter().zip(matching).filter(|(_, matches)| **matches);
    let busy: HashSet<usize> = matching.map(|(rule, _)| rule.span.start).collect();
    for rule in rules.iter().filter(|rule| !busy.contains(&rule.span.start)) {
        let text = &source[rule.span.clone()];
        let message = format!("the rule {text:?} never matches, because rules before it match all of its texts");
        warnings.push((rule.span.start, message));
    }
    warnings.sort();
    warnings.dedup();
    let source = Source { file: None, text: source };
    warnings.into_iter().map(|(at, message)| source.warning(at, &message)).collect()
}

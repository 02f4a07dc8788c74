//! Parse trees of texts, with the place of each node.

use std::fmt;
use std::ops::Range;

use echostack::recognize::{Node, Tree, TreeBuilder, Visit};
use echostack::{Alphabet, Limits};
use serde_json::Value;

use super::Judge;
use super::judgement::{Fault, FaultKind, Judgement};
use crate::lex::tokenizer::Lexeme;

impl Judge {
    /// Parses a text.
    ///
    /// ```
    /// use echostack_grammar::{Encoding, Grammar, Judge, Subject};
    /// let grammar = Grammar::new("sums", "%start S\n%%\nS: S '+' 'n' | 'n';\n", Encoding::Auto)?;
    /// let judge = Judge::new(Subject::of_grammar(grammar, None).table(&())?.into())?;
    /// let parsed = judge.parse("n+n")?;
    /// assert_eq!(parsed.to_string(), "(S (S n) + n)");
    /// let root = parsed.root();
    /// let kinds: Vec<&str> = root.children().map(|child| child.kind()).collect();
    /// assert_eq!((root.text(), kinds), ("n+n", vec!["S", "+", "n"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not accepted. The judgement says where and why.
    pub fn parse<'a>(&'a self, text: &'a str) -> Result<Parsed<'a>, Box<Judgement>> {
        self.parse_within(text, Limits::default())
    }

    /// Parses a text within limits.
    ///
    /// # Errors
    /// If the text is not accepted. The judgement says where and why.
    pub fn parse_within<'a>(&'a self, text: &'a str, limits: Limits) -> Result<Parsed<'a>, Box<Judgement>> {
        let (tokens, mut builder) = (self.tokens(text), TreeBuilder::new(self.alphabet()));
        let judgement = self.judge_tokens(text, &tokens, limits, &mut builder);
        match builder.finish() {
            Some(tree) if judgement.verdict.is_accept() => {
                let tree = self.hints.shape(tree, self.alphabet());
                let (lexemes, _) = tokens;
                let ranges: Vec<Range<usize>> = lexemes.iter().map(|lexeme| lexeme.start..lexeme.end).collect();
                let spans = tree.spans(&ranges);
                Ok(Parsed { alphabet: self.alphabet(), text: Some(text), tree, lexemes, spans, punctuation: true })
            }
            // Only a machine that is not proved can accept without reducing everything to one symbol.
            _ if judgement.verdict.is_accept() => {
                let fault = Some(Fault::new(text, text.trim_end().len(), FaultKind::NoTree));
                Err(Box::new(Judgement { fault, ..judgement }))
            }
            _ => Err(Box::new(judgement)),
        }
    }
}

/// A text that was parsed: its tree, with the kind, the text and the place of each node.
///
/// It is displayed as an S-expression of rules and the texts of tokens.
#[derive(Clone, Debug)]
pub struct Parsed<'a> {
    alphabet: &'a Alphabet,
    /// The text; there is none for a word of tokens.
    text: Option<&'a str>,
    tree: Tree,
    lexemes: Vec<Lexeme<'a>>,
    /// The part of the text that each node covers.
    spans: Vec<Range<usize>>,
    /// Whether tokens that consist of punctuation are shown.
    punctuation: bool,
}

/// A node of a [`Parsed`] text.
#[derive(Clone, Copy, Debug)]
pub struct ParsedNode<'p> {
    parsed: &'p Parsed<'p>,
    index: usize,
}

impl<'a> Parsed<'a> {
    /// Creates the parse of a word, given the names of its tokens. Its nodes have no places.
    pub fn of_word(alphabet: &'a Alphabet, tree: Tree, tokens: impl Iterator<Item = &'a str>) -> Self {
        let lexemes: Vec<Lexeme<'a>> = tokens.map(|name| Lexeme { name, start: 0, end: 0 }).collect();
        let spans = vec![0..0; tree.nodes().len()];
        Self { alphabet, text: None, tree, lexemes, spans, punctuation: true }
    }

    /// Leaves out tokens that consist of punctuation wherever the tree is shown.
    #[must_use]
    pub fn without_punctuation(self) -> Self {
        Self { punctuation: false, ..self }
    }

    /// Returns the tree. Its tokens are numbers.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the root of the tree.
    pub fn root(&self) -> ParsedNode<'_> {
        self.node(self.tree.root())
    }

    fn node(&self, index: usize) -> ParsedNode<'_> {
        ParsedNode { parsed: self, index }
    }

    fn lexeme(&self, position: u64) -> Option<&Lexeme<'a>> {
        self.lexemes.get(position as usize)
    }

    /// Returns whether a node is shown.
    fn is_shown(&self, node: ParsedNode<'_>) -> bool {
        let is_token = matches!(self.tree.nodes()[node.index], Node::Token(_));
        self.punctuation || !is_token || node.text().chars().any(char::is_alphanumeric)
    }

    /// Returns the tree as JSON: the kind of each node, where it starts and ends in a text, and the text of a token or
    /// the children of a branch. The tree may be too deep for a value of `serde_json`, so this is text.
    pub fn to_json(&self) -> String {
        let quote = |text: &str| Value::from(text).to_string();
        let places = Places::of(self);
        let mut json = String::new();
        self.tree.walk(|index, node, visit| {
            let shown = self.node(index);
            if !self.is_shown(shown) {
                return;
            }
            if visit == Visit::Leave {
                json += "]}";
                return;
            }
            if json.ends_with('}') {
                json.push(',');
            }
            json += "{\"kind\":";
            json += &quote(shown.kind());
            if self.text.is_some() {
                let Range { start, end } = shown.span();
                json += &places.json("start", start);
                json += &places.json("end", end);
            }
            match node {
                Node::Token(_) => {
                    json += ",\"text\":";
                    json += &quote(shown.text());
                    json.push('}');
                }
                Node::Branch { .. } => json += ",\"children\":[",
            }
        });
        json
    }
}

impl fmt::Display for Parsed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut is_first, mut written) = (true, Ok(()));
        self.tree.walk(|index, node, visit| {
            let shown = self.node(index);
            if written.is_err() || !self.is_shown(shown) {
                return;
            }
            if visit == Visit::Leave {
                written = f.write_str(")");
                return;
            }
            let space = if is_first { "" } else { " " };
            is_first = false;
            written = match node {
                Node::Token(_) => write!(f, "{space}{}", sexpr_atom(shown.text())),
                Node::Branch { .. } => write!(f, "{space}({}", shown.kind()),
            };
        });
        written
    }
}

impl<'p> ParsedNode<'p> {
    /// Returns the name of the token or nonterminal.
    pub fn kind(self) -> &'p str {
        match &self.parsed.tree.nodes()[self.index] {
            Node::Branch { symbol, .. } => self.parsed.alphabet.name(*symbol),
            Node::Token(position) => self.parsed.lexeme(*position).map_or("", |lexeme| lexeme.name),
        }
    }

    /// Returns the bytes of the text that the node covers. A node without tokens is empty, and lies at the end of the
    /// token before it.
    pub fn span(self) -> Range<usize> {
        self.parsed.spans[self.index].clone()
    }

    /// Returns the text that the node covers. In a word of tokens, that of a token is its name.
    pub fn text(self) -> &'p str {
        match (self.parsed.text, &self.parsed.tree.nodes()[self.index]) {
            (Some(text), _) => &text[self.span()],
            (None, Node::Token(_)) => self.kind(),
            (None, Node::Branch { .. }) => "",
        }
    }

    /// Returns the children, from the first to the last. A token has none.
    pub fn children(self) -> impl DoubleEndedIterator<Item = ParsedNode<'p>> {
        let children = match &self.parsed.tree.nodes()[self.index] {
            Node::Branch { children, .. } => &children[..],
            Node::Token(_) => &[],
        };
        children.iter().map(move |&index| self.parsed.node(index))
    }
}

/// Returns the text of a token as it is written in an S-expression: quoted if it would be read as something else.
pub fn sexpr_atom(text: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"()\"';".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_string() } else { format!("{text:?}") }
}

/// The lines and columns of the bytes at which tokens begin and end.
struct Places {
    /// The byte, the line, and the column in characters, both from 1; in the order of the bytes.
    places: Vec<(usize, usize, usize)>,
}

impl Places {
    fn of(parsed: &Parsed<'_>) -> Self {
        let mut places = vec![(0, 1, 1)];
        let Some(text) = parsed.text else { return Self { places } };
        let (mut at, mut line, mut column) = (0, 1, 1);
        for byte in parsed.lexemes.iter().flat_map(|lexeme| [lexeme.start, lexeme.end]) {
            for letter in text[at..byte].chars() {
                (line, column) = if letter == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            at = byte;
            places.push((byte, line, column));
        }
        Self { places }
    }

    /// Returns a member of a JSON object.
    fn json(&self, key: &str, byte: usize) -> String {
        // Every span begins and ends where a token does, or at the beginning of the text.
        let found = self.places.partition_point(|place| place.0 < byte);
        let (byte, line, column) = self.places.get(found).copied().unwrap_or((byte, 1, 1));
        format!(",\"{key}\":{{\"byte\":{byte},\"line\":{line},\"column\":{column}}}")
    }
}

//! The grammar and the lexer as files.
//!
//! The grammar is left-linear in each module. `M: s` and `N: M s` are the transitions by a token or a closed word, and
//! `X: open close | open M close` are the closed words. So it is LR(1) by construction.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use echostack::Alphabet;
use echostack::automaton::{Part, WordGrammar};
use echostack::spelling::Names;

use super::contract::{Contracted, Token, TokenId};
use super::names::{camel, of_token};
use crate::learn::automaton::Place;
use crate::learn::learner::{Closed, Module};
use crate::text::symbols::Symbols;

/// A grammar and its lexer, as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The grammar in Yacc syntax: `grammar.y`.
    pub grammar: String,
    /// The lexer in Lex syntax: `lexer.l`.
    pub lexer: String,
    /// The names of the tokens, each with a shortest text.
    pub tokens: Vec<(String, String)>,
    /// The grammar in EBNF, with a text for each rule, if it has a form that people would write.
    pub ebnf: Option<String>,
}

impl Files {
    /// Returns the files of a grammar over given tokens. Without given tokens there are none.
    pub(crate) fn over_given(symbols: &Symbols, grammar: String) -> Option<Self> {
        let tokens = symbols.tokens().map(|(_, name, text)| (name.to_string(), text.to_string())).collect();
        Some(Self { grammar, lexer: symbols.lexer()?.source().to_string(), tokens, ebnf: None })
    }
}

/// Writes a grammar, and the lexer of its tokens. The comment is the first line of the grammar.
pub(crate) fn write(contracted: &Contracted, symbols: &Symbols, comment: &str) -> Files {
    let mut taken = Names::numbered("_");
    let mut name =
        |token: &Token| if token.given.is_empty() { vec![taken.take(&of_token(token))] } else { token.given.clone() };
    let names: Vec<Vec<String>> = contracted.tokens.iter().map(&mut name).collect();
    let grammar = Writer::new(contracted, &names).grammar(comment);
    if let Some(files) = Files::over_given(symbols, grammar.clone()) {
        return files;
    }
    let mut lexer = "%%\n".to_string();
    for (token, name) in contracted.tokens.iter().zip(&names) {
        _ = writeln!(lexer, "{} \"{}\"", token.regex, name.concat());
    }
    let texts = contracted.tokens.iter().map(|token| token.text.clone());
    Files { grammar, lexer, tokens: names.iter().map(|name| name.concat()).zip(texts).collect(), ebnf: None }
}

/// Writes the grammar of reductions. Its rules are named after the tokens of their shortest alternatives.
pub(crate) fn write_words(words: &WordGrammar, alphabet: &Alphabet, comment: &str) -> String {
    let token = |part: &Part| if let Part::Token(token) = part { Some(alphabet.name(*token)) } else { None };
    let mut names = Names::numbered("_");
    let mut rules: Vec<String> = vec![names.take("Start")];
    for own in words.productions.iter().skip(1) {
        let shortest = own.iter().min_by_key(|parts| parts.len());
        let tokens: Vec<&str> = shortest.into_iter().flatten().filter_map(token).collect();
        let part = if tokens.is_empty() { String::new() } else { camel(&tokens.join("_")) };
        rules.push(names.take(&format!("Part{part}")));
    }
    let mut text = String::new();
    _ = writeln!(text, "// {comment}\n%start Start\n%%");
    let part = |part: &Part| match *part {
        Part::Token(token) => format!("'{}'", alphabet.name(token)),
        Part::Nonterminal(number) => rules[number].clone(),
    };
    let body = |parts: &Vec<Part>| match parts[..] {
        [] => "%empty".to_string(),
        _ => parts.iter().map(part).collect::<Vec<_>>().join(" "),
    };
    for (name, own) in rules.iter().zip(&words.productions) {
        write_rule(&mut text, name, &own.iter().map(body).collect::<Vec<_>>());
    }
    text
}

struct Writer<'a> {
    contracted: &'a Contracted,
    /// The names of the tokens. A given opener or closer can consist of several tokens.
    tokens: &'a [Vec<String>],
    states: BTreeMap<Place, String>,
    closed: BTreeMap<Closed, String>,
    /// The places in the order in which they are found.
    order: Vec<Place>,
}

impl<'a> Writer<'a> {
    fn new(contracted: &'a Contracted, tokens: &'a [Vec<String>]) -> Self {
        let mut this = Self { contracted, tokens, states: BTreeMap::new(), closed: BTreeMap::new(), order: Vec::new() };
        let mut names = Names::numbered("_");
        names.take("Start");
        for (&class, ways) in &contracted.closings {
            let mut openers: Vec<String> = ways.iter().map(|(open, ..)| camel(&tokens[open.at()].join("_"))).collect();
            openers.dedup();
            let name = if let [opener] = &openers[..] { format!("{opener}Group") } else { "Group".to_string() };
            this.closed.insert(class, names.take(&name));
        }
        for (number, start) in contracted.start.iter().enumerate() {
            let module = Module(number as u32);
            let openers = || contracted.closings.values().flatten().find(|(_, place, _)| place.0 == module);
            let base = match openers() {
                Some((open, ..)) => format!("In{}", camel(&tokens[open.at()].join("_"))),
                None => "Text".to_string(),
            };
            let Some(start) = start.filter(|&start| contracted.moves.contains_key(&(module, start))) else { continue };
            this.states.insert((module, start), names.take(&base));
            let mut waiting = VecDeque::from([(module, start)]);
            while let Some(place) = waiting.pop_front() {
                this.order.push(place);
                for (label, target) in this.steps(place) {
                    if let Entry::Vacant(state) = this.states.entry(target) {
                        let step = label.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
                        let step = step.map_or_else(|| label.clone(), |name| camel(&name.replace("' '", "_")));
                        let name = names.take(&format!("{base}After{step}"));
                        state.insert(name);
                        waiting.push_back(target);
                    }
                }
            }
        }
        this
    }

    fn token(&self, token: TokenId) -> String {
        format!("'{}'", self.tokens[token.at()].join("' '"))
    }

    /// Returns the steps from a place, as they are written in rules.
    fn steps(&self, place: Place) -> Vec<(String, Place)> {
        let moves = self.contracted.moves.get(&place).into_iter().flatten();
        let moves = moves.map(|(&token, &target)| (self.token(token), (place.0, target)));
        let over = self.contracted.over.get(&place).into_iter().flatten();
        let over = over.filter_map(|(class, &target)| Some((self.closed.get(class)?.clone(), (place.0, target))));
        moves.chain(over).collect()
    }

    fn grammar(&self, comment: &str) -> String {
        let starts: Vec<Place> = self
            .contracted
            .start
            .iter()
            .enumerate()
            .filter_map(|(at, start)| start.map(|start| (Module(at as u32), start)))
            .collect();
        let mut rules: BTreeMap<Place, Vec<String>> = BTreeMap::new();
        for &place in &self.order {
            for (label, target) in self.steps(place) {
                let bodies = rules.entry(target).or_default();
                if starts.contains(&place) {
                    bodies.push(label.clone());
                }
                bodies.push(format!("{} {label}", self.states[&place]));
            }
        }
        // The beginning of a module is no rule of its own, unless something leads back to it.
        let empty: Vec<&String> = starts
            .iter()
            .filter(|start| !rules.contains_key(start))
            .filter_map(|start| self.states.get(start))
            .collect();
        for bodies in rules.values_mut() {
            bodies
                .retain(|body| body.split_once(' ').is_none_or(|(first, _)| !empty.iter().any(|name| *name == first)));
        }
        let mut top = Vec::new();
        let start = starts.iter().find(|(module, _)| *module == Module::TOP);
        for &state in &self.contracted.accepting {
            let place = (Module::TOP, state);
            top.extend(rules.get(&place).and_then(|_| self.states.get(&place)).cloned());
        }
        if start.is_some_and(|(_, state)| self.contracted.accepting.contains(state)) {
            top.push("%empty".to_string());
        }
        let mut text = String::new();
        for line in comment.lines() {
            _ = writeln!(text, "// {line}");
        }
        _ = writeln!(text, "%start Start\n%%\nStart: {};", top.join(" | "));
        for (class, ways) in &self.contracted.closings {
            let mut bodies = Vec::new();
            for &(open, place, close) in ways {
                let (open, close) = (self.token(open), self.token(close));
                if starts.contains(&place) {
                    bodies.push(format!("{open} {close}"));
                }
                if rules.contains_key(&place) {
                    bodies.push(format!("{open} {} {close}", self.states[&place]));
                }
            }
            write_rule(&mut text, &self.closed[class], &bodies);
        }
        for place in &self.order {
            if let Some(bodies) = rules.get(place) {
                write_rule(&mut text, &self.states[place], bodies);
            }
        }
        text
    }
}

pub(crate) fn write_rule(text: &mut String, name: &str, bodies: &[String]) {
    let short = bodies.iter().map(String::len).sum::<usize>() < 80;
    let separator = if short { " | " } else { "\n    | " };
    _ = writeln!(text, "{name}: {};", bodies.join(separator));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{automaton, lists_learned};
    use crate::write::contract::contract;

    #[test]
    fn files_are_readable() {
        let (hypothesis, _) = lists_learned();
        let contracted = contract(automaton(&hypothesis), &hypothesis.symbols).unwrap();
        let files = write(&contracted, &hypothesis.symbols, "Lists.");
        for line in
            ["// Lists.", "%start Start", "Start: TextAfterX;", "LBracketGroup: '[' ']' | '[' InLBracketAfterX ']';"]
        {
            assert!(files.grammar.lines().any(|own| own == line), "{line}: {}", files.grammar);
        }
        assert!(
            files.lexer.starts_with("%%\n") && files.lexer.lines().any(|line| line == "\\[ \"[\""),
            "{}",
            files.lexer
        );
        assert_eq!(files.tokens.len(), 4);
        // Without given tokens, there is no lexer to write a grammar for.
        assert_eq!(Files::over_given(&hypothesis.symbols, files.grammar), None);
    }

    #[test]
    fn short_rules_are_on_one_line() {
        let rule = |bodies: &[&str]| {
            let mut text = String::new();
            write_rule(&mut text, "A", &bodies.iter().map(ToString::to_string).collect::<Vec<_>>());
            text
        };
        assert_eq!(rule(&["b", "c d"]), "A: b | c d;\n");
        let long = "x ".repeat(50);
        assert_eq!(rule(&[&long, "y"]), format!("A: {long}\n    | y;\n"));
    }
}

//! The text formats of Turing machines and of rules with two stacks, which docs/format.md describes.

use std::sync::Arc;

use super::error::TextError;
use super::rules::{Change, Decision, TwoStackRule, TwoStackRules, TwoStackStep};
use super::tape::{Entry, Move, TuringMachine};
use crate::suffix::StackSuffix;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// The maximum length of a text, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// What teaches a machine with two stacks: a Turing machine, or rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Teacher {
    source: String,
    machine: Option<TuringMachine>,
    rules: TwoStackRules,
}

impl Teacher {
    /// Reads a Turing machine or rules. The first line of the text says which of the two it is.
    ///
    /// ```
    /// use echostack::turing::Teacher;
    /// let error = Teacher::read("turing machine\ninput 0\nblank _\nstart a\na 0 -> b 0 X\n").unwrap_err();
    /// assert_eq!(error.to_string(), "line 5: \"X\" is no move; write L, R or S");
    /// ```
    ///
    /// # Errors
    /// See [`TextError`].
    pub fn read(text: &str) -> Result<Self, TextError> {
        if text.len() > MAX_TEXT {
            return whole(format!("the text has {} bytes; at most {MAX_TEXT} are read", text.len()));
        }
        // What counts as white space should not depend on who reads the text.
        let odd = |letter: &char| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r');
        if let Some(letter) = text.chars().find(odd) {
            return whole(format!("the text has the control character {letter:?}"));
        }
        let mut lines = lines(text);
        let kind = lines.next();
        let words: Vec<&str> = kind.as_ref().map(|(_, words)| words.clone()).unwrap_or_default();
        let (machine, rules) = match words[..] {
            ["turing", "machine"] => {
                let machine = read_machine(lines)?;
                let rules = machine.rules()?;
                (Some(machine), rules)
            }
            ["two", "stacks"] => (None, read_rules(lines)?),
            _ => {
                let line = kind.map_or(1, |(line, _)| line);
                return wrong(line, "the first line must be `turing machine` or `two stacks`");
            }
        };
        Ok(Self { source: text.to_string(), machine, rules })
    }

    /// Returns the text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the Turing machine, if it is one.
    pub fn machine(&self) -> Option<&TuringMachine> {
        self.machine.as_ref()
    }

    /// Returns the rules: those in the text, or those that simulate the Turing machine.
    pub fn rules(&self) -> &TwoStackRules {
        &self.rules
    }
}

fn wrong<T>(line: usize, reason: impl Into<String>) -> Result<T, TextError> {
    Err(TextError::Line { line, reason: reason.into() })
}

fn whole<T>(reason: impl Into<String>) -> Result<T, TextError> {
    Err(TextError::Whole(reason.into()))
}

/// Returns the words of each line that has any, with its number, without comments: from `//` at the beginning of a word to
/// the end of the line.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines().enumerate().map(|(number, line)| (number + 1, words(line))).filter(|(_, words)| !words.is_empty())
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().take_while(|word| !word.starts_with("//")).collect()
}

/// Words that are part of the notation and cannot be names.
const RESERVED: [&str; 7] = ["->", "|", ":", "^", "*", "end", "same"];

fn name(line: usize, word: &str) -> Result<String, TextError> {
    if RESERVED.contains(&word) {
        return wrong(line, format!("{word:?} is part of the notation and cannot be a name"));
    }
    Ok(word.to_string())
}

/// The declarations at the beginning of a text, each at most once.
#[derive(Default)]
struct Header {
    values: Vec<(&'static str, usize, Vec<String>)>,
}

impl Header {
    /// Reads a line, if it is a declaration: a line without an arrow.
    fn read(&mut self, known: &[&'static str], line: usize, words: &[&str]) -> Result<bool, TextError> {
        if words.contains(&"->") {
            return Ok(false);
        }
        let Some(&key) = known.iter().find(|&&key| key == words[0]) else {
            let known = known.join(", ");
            return wrong(line, format!("{:?} begins neither a rule, which has `->`, nor one of: {known}", words[0]));
        };
        if self.values.iter().any(|(own, ..)| *own == key) {
            return wrong(line, format!("there is a second line `{key}`; put everything into one"));
        }
        let names = words[1..].iter().map(|word| name(line, word)).collect::<Result<_, _>>()?;
        self.values.push((key, line, names));
        Ok(true)
    }

    fn names(&self, key: &str) -> &[String] {
        self.values.iter().find(|(own, ..)| *own == key).map_or(&[], |(_, _, names)| names)
    }

    fn line(&self, key: &str) -> usize {
        self.values.iter().find(|(own, ..)| *own == key).map_or(1, |(_, line, _)| *line)
    }

    /// Returns the only name of a line that must be there.
    fn one(&self, key: &str) -> Result<&str, TextError> {
        match self.values.iter().find(|(own, ..)| *own == key) {
            None => whole(format!("there is no line `{key} NAME`")),
            Some((_, line, names)) => match &names[..] {
                [one] => Ok(one),
                _ => wrong(*line, format!("`{key}` must have exactly one name")),
            },
        }
    }
}

/// What is before the arrow of a rule, what is after it, and the output.
type Halves<'w, 't> = (&'w [&'t str], &'w [&'t str], Option<&'t str>);

/// Splits a rule at the arrow, and takes off the output, which comes after `:`.
fn halves<'w, 't>(line: usize, words: &'w [&'t str]) -> Result<Halves<'w, 't>, TextError> {
    let mut parts = words.split(|word| *word == "->");
    let (Some(left), Some(right), None) = (parts.next(), parts.next(), parts.next()) else {
        return wrong(line, "there must be one `->`");
    };
    match right {
        [right @ .., ":", output] => Ok((left, right, Some(output))),
        _ if right.contains(&":") => wrong(line, "after `:` comes one output at the end of the line"),
        _ => Ok((left, right, None)),
    }
}

/// Numbers names in the order in which they are first seen.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    numbers: std::collections::HashMap<String, usize>,
}

impl Names {
    fn number(&mut self, name: String) -> usize {
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.list.push(name.clone());
            self.list.len() - 1
        })
    }
}

fn read_machine<'t>(lines: impl Iterator<Item = (usize, Vec<&'t str>)>) -> Result<TuringMachine, TextError> {
    let mut header = Header::default();
    let (mut states, mut symbols, mut outputs) = (Names::default(), Names::default(), Names::default());
    let mut entries = Vec::new();
    for (line, words) in lines {
        if header.read(&["input", "blank", "start", "accept"], line, &words)? {
            if !entries.is_empty() {
                return wrong(line, "declarations come before the entries of the table");
            }
            if words[0] == "input" {
                header.names("input").iter().for_each(|token| _ = symbols.number(token.clone()));
            }
            continue;
        }
        let (left, right, output) = halves(line, &words)?;
        let ([state, read @ ..], [next, write, direction]) = (left, right) else {
            return wrong(line, "an entry is `STATE SYMBOL ... -> STATE SYMBOL MOVE`, and perhaps `: OUTPUT`");
        };
        if read.is_empty() {
            return wrong(line, "an entry needs at least one symbol to read before `->`");
        }
        let direction = match *direction {
            "L" => Move::Left,
            "R" => Move::Right,
            "S" => Move::Stay,
            other => return wrong(line, format!("{other:?} is no move; write L, R or S")),
        };
        let state = states.number(name(line, state)?);
        let next = states.number(name(line, next)?);
        let output = output.map(|output| name(line, output)).transpose()?.map(|output| outputs.number(output) as u32);
        for read in read {
            let read = symbols.number(name(line, read)?);
            let write = if *write == "same" { read } else { symbols.number(name(line, write)?) };
            entries.push(((state, read), Entry { state: next, write, direction, output, line }));
        }
    }
    let input = header.names("input").len();
    if symbols.list[..input.min(symbols.list.len())] != *header.names("input") {
        return wrong(header.line("input"), "an input symbol is named twice");
    }
    let blank = symbols.number(header.one("blank")?.to_string());
    if blank < input {
        return wrong(header.line("blank"), "the blank cannot be an input symbol");
    }
    let start = states.number(header.one("start")?.to_string());
    let accepting = header.names("accept").iter().map(|state| states.number(state.clone())).collect();
    let mut table = std::collections::BTreeMap::new();
    for (place, entry) in entries {
        let line = entry.line;
        if table.insert(place, entry).is_some() {
            let (state, symbol) = (&states.list[place.0], &symbols.list[place.1]);
            return wrong(line, format!("there is already an entry for state {state:?} and symbol {symbol:?}"));
        }
    }
    if let Some(both) = states.list.iter().find(|state| symbols.numbers.contains_key(*state)) {
        return whole(format!("{both:?} is both a state and a symbol; rename one of them"));
    }
    Ok(TuringMachine {
        symbols: symbols.list,
        input,
        blank,
        states: states.list,
        start,
        accepting,
        outputs: outputs.list,
        table,
    })
}

fn read_rules<'t>(lines: impl Iterator<Item = (usize, Vec<&'t str>)>) -> Result<TwoStackRules, TextError> {
    let mut header = Header::default();
    let mut alphabet = None;
    let mut outputs = Names::default();
    let mut rules = Vec::new();
    for (line, words) in lines {
        if header.read(&["input", "symbols"], line, &words)? {
            if alphabet.is_some() {
                return wrong(line, "declarations come before the rules");
            }
            continue;
        }
        let alphabet = if let Some(alphabet) = &alphabet {
            alphabet
        } else {
            let [input, symbols] = ["input", "symbols"].map(|key| header.names(key).iter().cloned());
            alphabet.insert(Arc::new(Alphabet::new(input, symbols)?))
        };
        read_rule(line, &words, alphabet, &mut outputs, &mut rules)?;
    }
    let Some(alphabet) = alphabet else { return whole("there are no rules") };
    Ok(TwoStackRules::new(alphabet, outputs.list, rules)?)
}

/// Reads a rule, which becomes one for each of the lookaheads that it names.
fn read_rule(
    line: usize,
    words: &[&str],
    alphabet: &Alphabet,
    outputs: &mut Names,
    rules: &mut Vec<TwoStackRule>,
) -> Result<(), TextError> {
    let symbol = |word: &str| match alphabet.symbol(word) {
        Some(symbol) => Ok(symbol),
        None => wrong(line, format!("{word:?} is not among the symbols; declare it in `input` or `symbols`")),
    };
    let side = |words: &[&str]| -> Result<(bool, Vec<SymbolId>), TextError> {
        let (anchored, words) = match words {
            ["^", rest @ ..] => (true, rest),
            _ => (false, words),
        };
        Ok((anchored, words.iter().map(|word| symbol(word)).collect::<Result<_, _>>()?))
    };
    let (left, right, output) = halves(line, words)?;
    let parts: Vec<&[&str]> = left.split(|word| *word == "|").collect();
    let [first, second, next] = parts[..] else {
        return wrong(line, "before `->` comes `FIRST | SECOND | NEXT`, where FIRST and SECOND may be empty");
    };
    let suffixes = [side(first)?, side(second)?];
    let nexts: Vec<Option<Lookahead>> = match next {
        [] => return wrong(line, "what is next is missing; write tokens, `end`, or `*` for anything"),
        ["*"] => vec![None],
        names => {
            let next = |word: &&str| match (*word, symbol(word)) {
                ("end", _) => Ok(Some(Lookahead::End)),
                (_, Ok(token)) if alphabet.is_terminal(token) => Ok(Some(Lookahead::Token(token))),
                (_, Ok(_)) => wrong(line, format!("{word:?} cannot be next, because it is not in `input`")),
                (_, Err(error)) => Err(error),
            };
            names.iter().map(next).collect::<Result<_, _>>()?
        }
    };
    let output = output.map(|word| name(line, word)).transpose()?.map(|output| outputs.number(output) as u32);
    let step = match right {
        ["shift" | "accept"] => TwoStackStep::Rest(true),
        ["refuse"] => TwoStackStep::Rest(false),
        _ => {
            let parts: Vec<&[&str]> = right.split(|word| *word == "|").collect();
            let [first, second] = parts[..] else {
                return wrong(line, "after `->` comes `shift`, `refuse`, `accept` or `FIRST | SECOND`");
            };
            let change = |(old, words): (&(bool, Vec<SymbolId>), &[&str])| -> Result<Change, TextError> {
                let (anchored, new) = side(words)?;
                if anchored {
                    return wrong(line, "`^` stands before `->` only");
                }
                // What a rule leaves as it is need not be popped.
                let same = old.1.iter().zip(&new).take_while(|(a, b)| a == b).count();
                Ok(Change { pop: (old.1.len() - same) as u32, push: new[same..].to_vec() })
            };
            TwoStackStep::Act([change((&suffixes[0], first))?, change((&suffixes[1], second))?])
        }
    };
    let name: Arc<str> = format!("the rule in line {line}").into();
    let [first, second] = suffixes.map(|(anchored, symbols)| StackSuffix::new(symbols, anchored));
    for next in nexts {
        let decision = Decision { step: step.clone(), output };
        rules.push(TwoStackRule { suffixes: [first.clone(), second.clone()], next, decision, name: name.clone() });
    }
    Ok(())
}

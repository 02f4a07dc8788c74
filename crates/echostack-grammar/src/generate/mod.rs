//! Generation of source code from a table and its lexer: complete recognizers of texts that use no library.

use std::fmt::Write;

use echostack::table::{Prefix, Source, SourceError, SourceLanguage};

use crate::judge::Judge;
use crate::lex::dfa::Rows;
use crate::lex::file::StateChange;
use crate::lex::lexer::Lexer;
use crate::lex::tokenizer::{MAX_REREAD, MAX_STATES, MAX_TAIL};

impl Judge {
    /// Returns a table as source code that needs no library: a recognizer of texts if there is a lexer, otherwise of
    /// words. Returns `None` if the model is a machine, which must be compiled to a table first.
    ///
    /// ```
    /// use echostack::table::{Prefix, SourceLanguage};
    /// use echostack::{Manifest, Oracle, Table, tasks::Task};
    /// use echostack_grammar::Judge;
    /// let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Manifest::default())?;
    /// let source = Judge::new(table.into())?.source(SourceLanguage::C, &"anbn_".parse()?)?.unwrap();
    /// assert!(source.header().unwrap().contains("int anbn_read("));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SourceError::Endless`] if a chain of reductions is too long or never ends.
    pub fn source(&self, language: SourceLanguage, prefix: &Prefix) -> Result<Option<Source>, SourceError> {
        let Some(table) = self.model().table() else { return Ok(None) };
        let mut source = table.source(language, prefix)?;
        if let Some(lexer) = self.lexer() {
            self.append(lexer, &mut source);
        }
        Ok(Some(source))
    }

    fn append(&self, lexer: &Lexer, source: &mut Source) {
        let language = source.language();
        let terminals = self.alphabet().terminals().len();
        // The number of each of the lexer's names. Tokens that the table does not know come after the end of the word.
        let mut others = Vec::new();
        let mut number = |(name, symbol): (&String, &echostack::SymbolId)| {
            if symbol.index() < terminals {
                return symbol.index();
            }
            others.push(language.literal(name));
            terminals + others.len()
        };
        let numbers: Vec<usize> = lexer.names().iter().zip(self.symbols()).map(&mut number).collect();
        let other_count = others.len();
        others.extend((language == SourceLanguage::C).then(|| "0".to_string()));

        let automata: Vec<Rows<'_>> = lexer.states.iter().map(crate::lex::dfa::Dfa::rows).collect();
        let rules = lexer.rules.iter().map(|rule| (rule.name.map(|name| numbers[name as usize]), rule.change));
        // The last rule skips a carriage return.
        let rules: Vec<_> = rules.chain([(None, None)]).collect();
        let rule_list = rules.iter().map(|&(token, change)| match language {
            SourceLanguage::Rust => rust_rule(token, change),
            SourceLanguage::C => c_rule(token.unwrap_or(terminals), change),
        });
        let rows = automata.iter().map(|rows| rows.next.len() / rows.width).max().unwrap_or(1);
        let (row, rule) = (language.unsigned(rows - 1), language.unsigned(rules.len() - 1));
        let kept = automata.iter().map(longest_tail).try_fold(1, |most, tail| Some(most.max(tail?)));
        let kept = kept.filter(|&kept| kept <= MAX_TAIL).unwrap_or(MAX_TAIL);
        let values = [
            ("KEPT", kept.to_string()),
            ("OTHERS", other_count.to_string()),
            ("OTHER_NAMES", others.join(", ")),
            ("RULES", rules.len().to_string()),
            ("RULE_LIST", language.list(rule_list)),
            ("ROW", row.to_string()),
            ("RULE", rule.to_string()),
            ("MAX_KEPT", MAX_TAIL.to_string()),
            ("MAX_REREAD", MAX_REREAD.to_string()),
            ("MAX_BELOW", MAX_STATES.to_string()),
        ];
        let (declarations, definitions) = match language {
            SourceLanguage::Rust => ("", include_str!("text.rs").replace("@AUTOMATA@", &rust_automata(&automata))),
            SourceLanguage::C => {
                (include_str!("text.h"), include_str!("text.c").replace("@AUTOMATA@", &c_automata(&automata)))
            }
        };
        source.append(declarations, &definitions, &values);
    }
}

fn rust_rule(token: Option<usize>, change: Option<StateChange>) -> String {
    let change = match change {
        None => "None".to_string(),
        Some(StateChange::Replace(state)) => format!("Replace({state})"),
        Some(StateChange::Begin(state)) => format!("Begin({state})"),
        Some(StateChange::Push(state)) => format!("Push({state})"),
        Some(StateChange::Pop) => "Pop".to_string(),
    };
    format!("Rule {{ token: {token:?}, change: Change::{change} }}")
}

fn c_rule(token: usize, change: Option<StateChange>) -> String {
    let (change, state) = match change {
        None => (0, 0),
        Some(StateChange::Replace(state)) => (1, state),
        Some(StateChange::Begin(state)) => (2, state),
        Some(StateChange::Push(state)) => (3, state),
        Some(StateChange::Pop) => (4, 0),
    };
    format!("{{{token}, {change}, {state}}}")
}

fn rust_automata(automata: &[Rows<'_>]) -> String {
    let mut text = format!("static AUTOMATA: [Automaton; {}] = [\n", automata.len());
    for rows in automata {
        let list = |numbers: &[u32]| SourceLanguage::Rust.list(numbers.iter().map(u32::to_string));
        let classes = SourceLanguage::Rust.list(rows.classes.iter().map(u8::to_string));
        let Rows { width, start, accepting, last, .. } = rows;
        _ = write!(
            text,
            "Automaton {{\nclasses: [\n{classes}\n],\nnext: &[\n{}\n],\nrules: &[\n{}\n],\nwidth: {width},\nstart: \
             {start},\naccepting: {accepting},\nlast: {last},\n}},\n",
            list(&rows.next),
            list(rows.rules),
        );
    }
    text + "];"
}

fn c_automata(automata: &[Rows<'_>]) -> String {
    let mut text = String::new();
    let mut all = Vec::new();
    for (number, rows) in automata.iter().enumerate() {
        let list = |numbers: &[u32]| SourceLanguage::C.list(numbers.iter().map(u32::to_string));
        let classes = SourceLanguage::C.list(rows.classes.iter().map(u8::to_string));
        let (next, rules) = (list(&rows.next), list(&[rows.rules, &[0]].concat()));
        _ = write!(
            text,
            "static const uint8_t echostack_classes_{number}[256] = {{\n{classes}\n}};\n\
             static const @ROW@ echostack_next_{number}[{}] = {{\n{next}\n}};\n\
             static const @RULE@ echostack_rules_{number}[{}] = {{\n{rules}\n}};\n\n",
            rows.next.len(),
            rows.rules.len() + 1,
        );
        let Rows { width, start, accepting, last, .. } = rows;
        all.push(format!(
            "{{echostack_classes_{number}, echostack_next_{number}, echostack_rules_{number}, {width}, {start}, \
             {accepting}, {last}}}"
        ));
    }
    let list = SourceLanguage::C.list(all.into_iter());
    text + &format!("static const echostack_automaton echostack_automata[{}] = {{\n{list}\n}};\n", automata.len())
}

/// Returns the maximum number of bytes that must be kept after a match, while a longer one is still possible, or `None`
/// if there is no maximum.
fn longest_tail(rows: &Rows<'_>) -> Option<usize> {
    let next = |row: usize| rows.next[row * rows.width..][..rows.width].iter().map(|&next| next as usize);
    let is_open = |row: &usize| (1..rows.accepting).contains(row);
    let by = |row: usize, byte: u8| rows.next[row * rows.width + usize::from(rows.classes[usize::from(byte)])] as usize;
    // The states after the first byte that is kept: after a match, or after the carriage return of a line break.
    let count = rows.next.len() / rows.width;
    let mut first: Vec<usize> = (rows.accepting..count).flat_map(next).filter(is_open).collect();
    first.extend(Some(by(by(rows.start, b'\r'), b'\n')).filter(is_open));
    first.sort_unstable();
    first.dedup();

    // How often each of the states that can be reached from them is entered.
    let mut entered = vec![0_usize; rows.accepting.max(1)];
    let mut seen = vec![false; rows.accepting.max(1)];
    let mut open = first.clone();
    first.iter().for_each(|&row| seen[row] = true);
    let mut reached = 0;
    while let Some(row) = open.pop() {
        reached += 1;
        for to in next(row).filter(is_open) {
            entered[to] += 1;
            if !std::mem::replace(&mut seen[to], true) {
                open.push(to);
            }
        }
    }
    // Longest paths, in topological order.
    let mut length = vec![1_usize; rows.accepting.max(1)];
    let mut ready: Vec<usize> = first.into_iter().filter(|&row| entered[row] == 0).collect();
    let (mut done, mut longest) = (0, 0);
    while let Some(row) = ready.pop() {
        done += 1;
        longest = longest.max(length[row]);
        for to in next(row).filter(is_open) {
            length[to] = length[to].max(length[row] + 1);
            entered[to] -= 1;
            if entered[to] == 0 {
                ready.push(to);
            }
        }
    }
    (done == reached).then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_must_be_kept_is_bounded_where_it_can_be() {
        let tail = |source: &str| longest_tail(&Lexer::new(source).unwrap().states[0].rows());
        assert_eq!(tail("%%\n[0-9]+ \"N\"\n"), Some(0));
        assert_eq!(tail("%%\n[0-9]+(e[+-]?[0-9]+)? \"N\"\n"), Some(2));
        assert_eq!(tail("%%\na \"A\"\nabcde \"B\"\nxyzabc \"C\"\n"), Some(3));
        assert_eq!(tail("%%\n'([^']|'')*' \"Q\"\n"), None);
        assert_eq!(tail("%%\n\\n \"N\"\n\\r\\nabc \"M\"\n"), Some(3));
    }
}

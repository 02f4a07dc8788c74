//! What a grammar makes of a text at the place at which sides disagree.
//!
//! For programs, the state that they are in can only be guessed from what they say about other texts (`cause.rs`). A grammar
//! tells it: which token stands at the place and what was expected instead, or as what it is read.

use std::fmt;

use echostack_grammar::{FaultKind, Judge, Judgement, ParsedNode};

use super::purpose::Class;

/// The length of the longest texts that grammars tell something about, in bytes.
const LONG: usize = 1 << 12;
/// The most rules above a token that are told.
const MAX_RULES: usize = 8;

/// What a grammar makes of a text at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    /// It refuses the text: what stands where it stops, and what it expected there.
    Refused { found: String, expected: Option<String> },
    /// It accepts the text, and the place is inside of a token.
    Inside { token: String },
    /// It accepts the text, and a token begins at the place, or the text ends there: the names of the rules that it belongs to,
    /// from the innermost one to the first that has other parts, too.
    At { token: Option<String>, rules: Vec<String> },
    /// It accepts the text, and what is at the place belongs to no token.
    Skipped,
    /// The text is too long, or there is no tree.
    Nothing,
}

impl Told {
    /// Finds out what a grammar says about a text that it refuses.
    pub(super) fn refused(judgement: &Judgement) -> Self {
        let found = match judgement.fault.as_ref().map(|fault| &fault.kind) {
            Some(FaultKind::Token { name, .. }) => format!("token {name}"),
            Some(FaultKind::End) => "end".to_string(),
            Some(FaultKind::NoToken(letter)) => class(*letter),
            _ => "something else".to_string(),
        };
        Self::Refused { found, expected: judgement.expected() }
    }

    /// Finds out as what a grammar reads a text that it accepts, after so many bytes.
    pub(super) fn read(judge: &Judge, text: &str, byte: usize) -> Self {
        read(judge, text, byte).unwrap_or(Self::Nothing)
    }

    /// Returns whether the causes of two texts can be the same.
    ///
    /// Inside of a token, it does not matter where the token stands; otherwise, the rule matters.
    pub(super) fn is_related(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Refused { found: one, .. }, Self::Refused { found: two, .. }) => one == two,
            (Self::At { rules: one, .. }, Self::At { rules: two, .. }) => one == two,
            _ => self == other,
        }
    }

    /// Returns whether the same token stands at the place.
    pub(super) fn has_token_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Refused { found: one, .. }, Self::Refused { found: two, .. }) => one == two,
            (Self::At { token: one, .. }, Self::At { token: two, .. }) => one == two,
            _ => self == other,
        }
    }
}

/// Says as what a grammar reads a text that it accepts.
pub(super) struct Reading<'t> {
    pub(super) told: &'t Told,
    /// The text from the place on.
    pub(super) rest: &'t str,
}

impl fmt::Display for Reading<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |name: &str| {
            let is_word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
            if is_word { name.to_string() } else { format!("'{name}'") }
        };
        match self.told {
            Told::Inside { token } => write!(f, "reads {} here", word(token)),
            Told::At { token: Some(token), rules } => write!(f, "reads {} as {}", word(token), rules.join(" in ")),
            Told::At { token: None, rules } => write!(f, "accepts the end after {}", rules.join(" in ")),
            Told::Skipped => {
                let skipped: String = self.rest.chars().take(1).collect();
                write!(f, "skips {skipped:?}")
            }
            Told::Refused { .. } | Told::Nothing => f.write_str("accepts"),
        }
    }
}

/// Returns the class of a character with which no token begins. Those that nobody types are alike.
fn class(letter: char) -> String {
    match Class::of(Some(letter)) {
        _ if letter.is_whitespace() => "a blank".to_string(),
        Class::Other(other) if !other.is_ascii_graphic() => "an unusual character".to_string(),
        class => format!("{class:?}"),
    }
}

fn read(judge: &Judge, text: &str, byte: usize) -> Option<Told> {
    if text.len() > LONG {
        return None;
    }
    let parsed = judge.parse(text).ok()?;
    let mut path = vec![parsed.root()];
    while let Some(next) = path.last().and_then(|&node| child_at(node, byte)) {
        path.push(next);
    }
    let leaf = path.pop()?;
    let inside = leaf.span().contains(&byte);
    if !inside && byte < text.len() {
        return Some(Told::Skipped);
    }
    if inside && leaf.span().start < byte {
        return Some(Told::Inside { token: leaf.kind().to_string() });
    }
    let mut rules = Vec::new();
    for node in path.iter().rev().take(MAX_RULES) {
        rules.push(node.kind().to_string());
        if node.children().nth(1).is_some() {
            break;
        }
    }
    Some(Told::At { token: inside.then(|| leaf.kind().to_string()), rules })
}

/// Returns the child that covers a byte, or else the last one before it.
fn child_at(node: ParsedNode<'_>, byte: usize) -> Option<ParsedNode<'_>> {
    let mut children = node.children().filter(|child| !child.span().is_empty()).peekable();
    let first = children.peek().copied();
    children.take_while(|child| child.span().start <= byte).last().or(first)
}

#[cfg(test)]
mod tests {
    use echostack_grammar::{Encoding, Grammar, Lexer, Subject};

    use super::*;

    fn judge() -> Judge {
        let grammar =
            "%token n\n%%\nList: '[' Items ']'; Items: Item | Items ',' Item; Item: Number | List; Number: n;\n";
        let lexer = "%%\n[0-9]+ \"n\"\n\\[ \"[\"\n\\] \"]\"\n, \",\"\n[ ] ;\n";
        let grammar = Grammar::new("lists", grammar, Encoding::Auto).unwrap();
        let subject = Subject::of_grammar(grammar, Some(Lexer::new(lexer).unwrap()));
        Judge::new(subject.table(&()).unwrap().into()).unwrap()
    }

    #[test]
    fn a_grammar_tells_as_what_it_reads_a_place() {
        let judge = judge();
        let told = |text: &str, byte| Told::read(&judge, text, byte);
        let at = |token: Option<&str>, rules: &[&str]| Told::At {
            token: token.map(String::from),
            rules: rules.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(told("[12, 3]", 1), at(Some("n"), &["Number", "Item", "Items", "Items"]));
        assert_eq!(told("[12, 3]", 5), at(Some("n"), &["Number", "Item", "Items"]));
        assert_eq!(told("[12, 3]", 2), Told::Inside { token: "n".to_string() });
        assert_eq!(told("[12, 3]", 3), at(Some(","), &["Items"]));
        assert_eq!(
            (told("[12, 3]", 4), told(" [1]", 0), told("[1] ", 3)),
            (Told::Skipped, Told::Skipped, Told::Skipped)
        );
        assert_eq!(told("[1]", 3), at(None, &["List"]));
        assert_eq!(told("[1", 1), Told::Nothing);
        let show = |text: &str, byte: usize| Reading { told: &told(text, byte), rest: &text[byte..] }.to_string();
        assert_eq!(show("[12, 3]", 5), "reads n as Number in Item in Items");
        assert_eq!(show("[12, 3]", 3), "reads ',' as Items");
        assert_eq!((show("[1]", 3).as_str(), show(" [1]", 0).as_str()), ("accepts the end after List", "skips \" \""));
    }

    #[test]
    fn a_rule_or_what_was_expected_tells_causes_apart() {
        let judge = judge();
        let refused = |text: &str| Told::refused(&judge.check(text).unwrap_err());
        assert_eq!(refused("[1"), refused("[1,[2],3"));
        assert!(refused("[1").is_related(&refused("[")) && !refused("[1").is_related(&refused("[1[")));
        assert!(refused("[\0").is_related(&refused("\u{1}")) && !refused("[?").is_related(&refused("[!")));
        assert!(refused("[x").has_token_of(&refused("[1,y")) && !refused("[x").has_token_of(&refused("[?")));
        let (number, list) = (Told::read(&judge, "[1,2]", 3), Told::read(&judge, "[1,[2]]", 3));
        assert!(number.is_related(&Told::read(&judge, "[7,5]", 3)) && !number.is_related(&list));
    }
}

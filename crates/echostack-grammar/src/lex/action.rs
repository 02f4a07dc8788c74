//! Finds out what the actions of a flex file do: which token they return, and which start state they change to.

use crate::text::error::LexerError;
use crate::yacc::code;

/// What an action does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Action<'a> {
    pub(crate) returned: Returned,
    pub(crate) change: Option<Change<'a>>,
    /// A macro that may do more, and where it is.
    pub(crate) macro_call: Option<(usize, &'a str)>,
}

/// What an action returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// Nothing: the text is skipped.
    Nothing,
    /// The token with this name.
    Token(String),
    /// The character that was matched.
    Character,
}

/// A change of the start state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    Begin(&'a str),
    Push(&'a str),
    Pop,
}

/// A piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// A name, a keyword or a number.
    Word(&'a str),
    /// What is between single quotes.
    Character(&'a str),
    /// A text in double quotes.
    Text,
    Symbol(char),
}

/// Functions of flex that make the next token depend on more than the text from here on.
const REFUSED: [&str; 8] = ["yymore", "REJECT", "yyless", "unput", "yyunput", "input", "yyinput", "yyterminate"];
/// Words that make code depend on a condition.
const CONTROL: [&str; 8] = ["if", "else", "switch", "case", "for", "while", "do", "goto"];

/// Reads the action in a part of a file.
pub(crate) fn read(source: &str, from: usize, to: usize) -> Result<Action<'_>, LexerError> {
    let pieces = pieces(source, from, to);
    let error = |at: usize, message: String| Err(LexerError::at(source, at, &message));
    let mut action = Action { returned: Returned::Nothing, change: None, macro_call: None };
    let control = |&(_, piece): &(usize, Piece<'_>)| matches!(piece, Piece::Word(word) if CONTROL.contains(&word));
    let condition = pieces.iter().position(|piece| control(piece) || piece.1 == Piece::Symbol('?'));
    let mut always = condition.is_none();
    let word = |number: usize| {
        pieces.get(number).and_then(|(_, piece)| if let Piece::Word(word) = piece { Some(*word) } else { None })
    };
    for (number, &(at, piece)) in pieces.iter().enumerate() {
        let Piece::Word(name) = piece else { continue };
        let called = pieces.get(number + 1).is_some_and(|&(_, next)| next == Piece::Symbol('('));
        let argument = word(number + 1 + usize::from(called));
        let change = match name {
            _ if REFUSED.contains(&name) && (called || name == "REJECT") => {
                return error(
                    at,
                    format!(
                        "{name} is not supported: the tokens would depend on what the code does; write rules without it"
                    ),
                );
            }
            "return" => {
                let end = pieces[number..].iter().position(|&(_, piece)| piece == Piece::Symbol(';'));
                let end = end.map_or(pieces.len(), |end| number + end);
                let value: Vec<Piece<'_>> = pieces[number + 1..end].iter().map(|&(_, piece)| piece).collect();
                let Some(returned) = returned(&value) else {
                    let message = "the token that this returns cannot be told; return a name, a character or yytext[0]";
                    return error(at, message.into());
                };
                if action.returned != Returned::Nothing && action.returned != returned {
                    return error(at, "this action returns different tokens; write a rule for each of them".into());
                }
                always |= is_last(&pieces, number, end);
                action.returned = returned;
                continue;
            }
            "BEGIN" => Change::Begin(argument.unwrap_or_default()),
            "yy_push_state" => Change::Push(argument.unwrap_or_default()),
            "yy_pop_state" => Change::Pop,
            _ => {
                let is_macro = called
                    && name.chars().any(|letter| letter.is_ascii_uppercase())
                    && name == name.to_ascii_uppercase();
                if is_macro && !name.starts_with("YY") {
                    action.macro_call.get_or_insert((at, name));
                }
                continue;
            }
        };
        if condition.is_some_and(|condition| condition < number)
            || action.change.replace(change).is_some_and(|known| known != change)
        {
            return error(at, "the next start state depends on code here; write a rule for each of the states".into());
        }
    }
    if action.returned != Returned::Nothing && !always {
        return error(
            from,
            "whether this action returns a token depends on a condition; write a rule for each case".into(),
        );
    }
    Ok(action)
}

/// Returns whether a statement ends the action, whatever was done before: it is no part of another statement, and
/// nothing follows it.
fn is_last(pieces: &[(usize, Piece<'_>)], start: usize, end: usize) -> bool {
    let depth = pieces[..start].iter().fold(0_i32, |depth, &(_, piece)| match piece {
        Piece::Symbol('{') => depth + 1,
        Piece::Symbol('}') => depth - 1,
        _ => depth,
    });
    let outer = i32::from(pieces.first().is_some_and(|&(_, piece)| piece == Piece::Symbol('{')));
    let before = pieces[..start].last().map(|&(_, piece)| piece);
    let follows = matches!(before, None | Some(Piece::Symbol(';' | '{' | '}')));
    let rest = pieces.get(end + 1..).unwrap_or_default();
    depth == outer && follows && rest.iter().all(|&(_, piece)| matches!(piece, Piece::Symbol('}' | ';')))
}

/// Returns what an expression after `return` stands for, if that can be told.
fn returned(mut value: &[Piece<'_>]) -> Option<Returned> {
    use Piece::{Character, Symbol, Word};
    const TYPES: [&str; 6] = ["int", "char", "unsigned", "signed", "long", "short"];
    loop {
        value = match value {
            [Symbol('('), inside @ .., Symbol(')')] if balanced(inside) => inside,
            [Symbol('('), Word(word), rest @ ..] if TYPES.contains(word) => {
                let end = rest.iter().position(|&piece| piece == Symbol(')'))?;
                &rest[end + 1..]
            }
            _ => break,
        };
    }
    match value {
        [Symbol('*'), Word("yytext")] | [Word("yytext"), Symbol('['), Word("0"), Symbol(']')] => {
            Some(Returned::Character)
        }
        [Character(inside)] => Some(Returned::Token(code::literal_name(inside))),
        // Names may be qualified in C++: yy::parser::token::NUM, or yy::parser::make_NUM(...).
        [Word(_), Symbol(':'), Symbol(':'), rest @ ..] => returned(rest),
        [Word(name), Symbol('('), .., Symbol(')')] => {
            name.strip_prefix("make_").map(|name| Returned::Token(name.into()))
        }
        [Word(name)] if !name.starts_with(|letter: char| letter.is_ascii_digit()) => {
            Some(Returned::Token((*name).into()))
        }
        _ => None,
    }
}

/// Returns whether each parenthesis is closed after it is opened.
fn balanced(pieces: &[Piece<'_>]) -> bool {
    let mut depth = 0_usize;
    pieces.iter().all(|piece| match piece {
        Piece::Symbol('(') => {
            depth += 1;
            true
        }
        Piece::Symbol(')') => depth.checked_sub(1).map(|less| depth = less).is_some(),
        _ => true,
    })
}

/// Splits code into pieces. Comments are passed over.
fn pieces(source: &str, from: usize, to: usize) -> Vec<(usize, Piece<'_>)> {
    let text = &source[..to];
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut pieces = Vec::new();
    let mut at = from;
    while let Some(letter) = text[at..].chars().next() {
        let start = at;
        at += letter.len_utf8();
        match letter {
            '/' if code::comment(text, start).is_some() => at = code::comment(text, start).unwrap_or(at),
            '"' | '\'' if code::literal(text, start).is_some() => {
                at = code::literal(text, start).unwrap_or(at);
                let piece = if letter == '"' { Piece::Text } else { Piece::Character(&text[start + 1..at - 1]) };
                pieces.push((start, piece));
            }
            letter if is_word(letter) => {
                at = text[start..].find(|letter| !is_word(letter)).map_or(to, |length| start + length);
                pieces.push((start, Piece::Word(&text[start..at])));
            }
            letter if letter.is_whitespace() => {}
            letter => pieces.push((start, Piece::Symbol(letter))),
        }
    }
    pieces
}

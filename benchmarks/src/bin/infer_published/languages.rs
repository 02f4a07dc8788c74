//! The languages of the published benchmarks, as recursive descent parsers written from the languages' descriptions.

/// The depth up to which texts are parsed.
const MAX_DEPTH: usize = 400;

/// A position in a text.
struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

type Rule = fn(&mut Parser<'_>) -> Option<()>;

/// Returns the parser of a language.
pub(crate) fn language(name: &str) -> Option<impl Fn(&str) -> bool + Sync + Copy + use<>> {
    let rule: Rule = match name {
        "arith" => arith,
        "fol" => fol,
        "json" => json,
        "lisp" => lisp,
        "mathexpr" => mathexpr,
        "turtle" => turtle,
        "while" => statements,
        "xml" => xml,
        _ => return None,
    };
    Some(move |text: &str| {
        let mut parser = Parser { rest: text, depth: 0 };
        rule(&mut parser).is_some() && parser.rest.is_empty()
    })
}

impl Parser<'_> {
    fn eat(&mut self, literal: &str) -> bool {
        let rest = self.rest.strip_prefix(literal);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn need(&mut self, literal: &str) -> Option<()> {
        self.eat(literal).then_some(())
    }

    fn one(&mut self, is: impl Fn(char) -> bool) -> Option<char> {
        let letter = self.rest.chars().next().filter(|&letter| is(letter))?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn any(&mut self, is: impl Fn(char) -> bool + Copy) -> usize {
        std::iter::from_fn(|| self.one(is)).count()
    }

    fn some(&mut self, is: impl Fn(char) -> bool + Copy) -> Option<()> {
        (self.any(is) > 0).then_some(())
    }

    fn inner(&mut self, rule: Rule) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        rule(self)?;
        self.depth -= 1;
        Some(())
    }
}

fn digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn alphanumeric(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
}

/// Operands, which are numbers without leading zeros or in parentheses, with operators between them.
fn arith(p: &mut Parser<'_>) -> Option<()> {
    loop {
        if p.eat("(") {
            p.inner(arith)?;
            p.need(")")?;
        } else if !p.eat("0") {
            p.some(digit)?;
        }
        if p.one(|letter| "+-*/".contains(letter)).is_none() {
            return Some(());
        }
    }
}

/// JSON without spaces, in which strings are letters and digits, and numbers have no exponent.
fn json(p: &mut Parser<'_>) -> Option<()> {
    if p.eat("{") {
        if p.eat("}") {
            return Some(());
        }
        loop {
            string(p)?;
            p.need(":")?;
            p.inner(json)?;
            if p.eat("}") {
                return Some(());
            }
            p.need(",")?;
        }
    }
    if p.eat("[") {
        if p.eat("]") {
            return Some(());
        }
        loop {
            p.inner(json)?;
            if p.eat("]") {
                return Some(());
            }
            p.need(",")?;
        }
    }
    if p.rest.starts_with('"') {
        return string(p);
    }
    if ["true", "false", "null"].iter().any(|word| p.eat(word)) {
        return Some(());
    }
    if !p.eat("0") {
        p.eat("-");
        p.one(|letter| ('1'..='9').contains(&letter))?;
        p.any(digit);
    }
    if p.eat(".") { p.some(digit) } else { Some(()) }
}

fn string(p: &mut Parser<'_>) -> Option<()> {
    p.need("\"")?;
    p.some(alphanumeric)?;
    p.need("\"")
}

/// A name, a list, or a pair with a dot.
fn lisp(p: &mut Parser<'_>) -> Option<()> {
    if p.eat("(") {
        p.inner(lisp)?;
        if p.eat(" . ") {
            p.inner(lisp)?;
        } else {
            while p.eat(" ") {
                p.inner(lisp)?;
            }
        }
        return p.need(")");
    }
    p.one(|letter| letter.is_ascii_lowercase())?;
    p.any(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    Some(())
}

const FUNCTIONS: [&str; 26] = [
    "abs", "acos", "asin", "atan2", "atan", "ceil", "cosh", "cos", "degrees", "exp", "fabs", "floor", "fmod", "frexp",
    "hypot", "ldexp", "log10", "log", "modf", "pow", "radians", "sinh", "sin", "sqrt", "tanh", "tan",
];

/// Expressions with spaces around operators, calls of known functions, variables and numbers.
fn mathexpr(p: &mut Parser<'_>) -> Option<()> {
    loop {
        if p.eat("(") {
            p.inner(mathexpr)?;
            p.need(")")?;
        } else {
            operand(p)?;
        }
        let operator = p.rest.get(..3).filter(|text| [" + ", " - ", " * ", " / "].contains(text));
        match operator {
            Some(text) => p.rest = &p.rest[text.len()..],
            None => return Some(()),
        }
    }
}

fn operand(p: &mut Parser<'_>) -> Option<()> {
    let name = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let run: &str = &p.rest[..p.rest.find(|letter| !name(letter)).unwrap_or(p.rest.len())];
    let starts = run.starts_with(|letter: char| letter.is_ascii_lowercase());
    let variable = run.rfind(|letter: char| letter.is_ascii_lowercase()).filter(|_| starts).map_or(0, |at| at + 1);
    // The name of a function is a variable, too, unless a parenthesis follows.
    if FUNCTIONS.iter().any(|name| p.rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('('))) {
        p.rest = &p.rest[run.len()..];
        p.need("(")?;
        loop {
            p.inner(mathexpr)?;
            if p.eat(")") {
                return Some(());
            }
            p.need(", ")?;
        }
    }
    if variable > 0 {
        p.rest = &p.rest[variable..];
        return Some(());
    }
    let negative = p.eat("-");
    if p.eat("0") {
        if p.eat(".") {
            return p.some(digit);
        }
        return (!negative).then_some(());
    }
    p.one(|letter| ('1'..='9').contains(&letter))?;
    p.any(digit);
    let before = p.rest;
    if p.eat(".") && p.some(digit).is_none() {
        p.rest = before;
    }
    Some(())
}

fn turtle(p: &mut Parser<'_>) -> Option<()> {
    loop {
        instruction(p)?;
        if !p.eat(" ") {
            return Some(());
        }
    }
}

fn instruction(p: &mut Parser<'_>) -> Option<()> {
    if p.eat("fill ") {
        return p.inner(block);
    }
    if p.eat("repeat ") {
        p.one(digit)?;
        p.need(" ")?;
        return p.inner(block);
    }
    if p.eat("c ") {
        color(p)?;
        let before = p.rest;
        if p.eat(" ") && color(p).is_none() {
            p.rest = before;
        }
        return Some(());
    }
    p.one(|letter| "fblr".contains(letter))?;
    p.one(digit).map(|_| ())
}

fn color(p: &mut Parser<'_>) -> Option<()> {
    p.one(|letter| letter.is_ascii_uppercase())?;
    p.some(|letter| letter.is_ascii_lowercase())
}

fn block(p: &mut Parser<'_>) -> Option<()> {
    p.need("{")?;
    loop {
        instruction(p)?;
        p.need(" ")?;
        if p.eat("}") {
            return Some(());
        }
    }
}

/// The language While: assignments, conditionals and loops.
fn statements(p: &mut Parser<'_>) -> Option<()> {
    loop {
        if p.eat("L = ") {
            p.inner(number)?;
        } else if p.eat("if ") {
            boolean(p)?;
            p.need(" then ")?;
            p.inner(statements)?;
            p.need(" else ")?;
            continue;
        } else if p.eat("while ") {
            boolean(p)?;
            p.need(" do ")?;
            continue;
        } else {
            p.need("skip")?;
        }
        if !p.eat(" ; ") {
            return Some(());
        }
    }
}

fn boolean(p: &mut Parser<'_>) -> Option<()> {
    loop {
        while p.eat("~") {}
        if !p.eat("true") && !p.eat("false") {
            p.inner(number)?;
            p.need(" == ")?;
            p.inner(number)?;
        }
        if !p.eat(" & ") {
            return Some(());
        }
    }
}

fn number(p: &mut Parser<'_>) -> Option<()> {
    if p.eat("(") {
        p.inner(number)?;
        p.need("+")?;
        p.inner(number)?;
        return p.need(")");
    }
    (p.eat("L") || p.eat("n")).then_some(())
}

/// An element, with attributes and a text or one element in it. The names are a to e.
fn xml(p: &mut Parser<'_>) -> Option<()> {
    p.need("<")?;
    let name = p.one(|letter| ('a'..='e').contains(&letter))?;
    if p.eat("/>") {
        return Some(());
    }
    while p.eat(" ") {
        p.some(|letter| letter.is_ascii_alphabetic())?;
        p.need("=\"")?;
        p.some(|letter| letter.is_ascii_alphabetic())?;
        p.need("\"")?;
    }
    p.need(">")?;
    if p.any(|letter| letter.is_ascii_alphabetic()) == 0 {
        p.inner(xml)?;
    }
    p.need(&format!("</{name}>"))
}

/// First-order logic.
fn fol(p: &mut Parser<'_>) -> Option<()> {
    loop {
        loop {
            if p.eat("!") {
                continue;
            }
            if p.eat("Forall(?") || p.eat("Exists(?") {
                p.some(alphanumeric)?;
                p.need(") ")?;
                continue;
            }
            break;
        }
        if p.eat("_") {
            p.some(alphanumeric)?;
            arguments(p)?;
        } else {
            p.inner(term)?;
            p.need(" = ")?;
            p.inner(term)?;
        }
        if ![" \\/ ", " ^ ", " -> ", " <-> "].iter().any(|operator| p.eat(operator)) {
            return Some(());
        }
    }
}

fn arguments(p: &mut Parser<'_>) -> Option<()> {
    p.need("(")?;
    loop {
        p.inner(term)?;
        if p.eat(")") {
            return Some(());
        }
        p.need(", ")?;
    }
}

fn term(p: &mut Parser<'_>) -> Option<()> {
    if p.eat(".") {
        p.some(alphanumeric)?;
        return arguments(p);
    }
    p.one(|letter| "?#".contains(letter))?;
    p.some(alphanumeric)
}

//! What the unit tests share: a small language with brackets, and what is learned of it.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::ask::queries::{Asking, Queries};
use crate::learn::automaton::Automaton;
use crate::learn::hypothesis::{Hypothesis, Model};
use crate::learn::learner::{ALL, Learner};
use crate::program::Program;
use crate::text::charset::CharSet;
use crate::text::symbols::{Sym, Word};
use crate::text::teacher::Teacher;

/// The characters of lists.
pub(crate) const LISTS: &str = "x[],";

/// Returns whether a text is `x` or a list, such as `[x,[x]]`.
pub(crate) fn lists(text: &str) -> bool {
    fn item(text: &str) -> Option<&str> {
        let Some(mut rest) = text.strip_prefix('[') else { return text.strip_prefix('x') };
        if let Some(rest) = rest.strip_prefix(']') {
            return Some(rest);
        }
        loop {
            rest = item(rest)?;
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => return rest.strip_prefix(']'),
            }
        }
    }
    item(text) == Some("")
}

/// Returns all texts over some characters of up to a length.
pub(crate) fn texts(letters: &str, length: usize) -> Vec<String> {
    let (mut all, mut from) = (vec![String::new()], 0);
    for _ in 0..length {
        let layer = from..all.len();
        from = all.len();
        for at in layer {
            let longer: Vec<String> = letters.chars().map(|letter| format!("{}{letter}", all[at])).collect();
            all.extend(longer);
        }
    }
    all
}

/// Returns a teacher for whom each of some characters is a class.
pub(crate) fn teacher<'a>(oracle: &'a dyn Program, letters: &str) -> Teacher<'a> {
    let mut teacher = Teacher::new(Queries::new(oracle, Asking::default(), &()).unwrap());
    letters.chars().for_each(|letter| _ = teacher.symbols.add_class(letter, CharSet::of(letter)));
    teacher
}

pub(crate) fn symbol(teacher: &Teacher<'_>, letter: char) -> Sym {
    teacher.symbols.class_of(letter).unwrap()
}

pub(crate) fn word(teacher: &Teacher<'_>, text: &str) -> Word {
    teacher.symbols.lex(&teacher.symbols.base(text).unwrap())
}

/// Returns a learner of lists that has seen no word yet.
pub(crate) fn untaught(teacher: &Teacher<'_>) -> Learner {
    Learner::new(vec![symbol(teacher, '[')], vec![symbol(teacher, ']')])
}

/// Returns a learner that judges all short texts as the teacher for lists does, and with it all lists.
pub(crate) fn taught(teacher: &mut Teacher<'_>) -> Learner {
    let mut learner = untaught(teacher);
    for text in ["x", "[]", "[x]", "[x,x]", "[[]]"].map(String::from).iter().chain(&texts(LISTS, 5)) {
        let word = word(teacher, text);
        learner.learn_from(&word, teacher).unwrap();
    }
    learner
}

/// Returns the language of lists as it is learned, with its learner.
pub(crate) fn lists_learned() -> (Hypothesis, Learner) {
    let mut teacher = teacher(&lists, LISTS);
    let mut learner = taught(&mut teacher);
    let automaton = Automaton::freeze(&mut learner, ALL, &mut teacher).unwrap();
    (Hypothesis { symbols: teacher.symbols, model: Model::Modules(automaton) }, learner)
}

/// Returns the automaton of a hypothesis of the first learner.
pub(crate) fn automaton(hypothesis: &Hypothesis) -> &Automaton {
    let Model::Modules(automaton) = &hypothesis.model else { panic!("reductions") };
    automaton
}

pub(crate) fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(0)
}

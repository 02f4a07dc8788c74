//! What models are made for: a task, a grammar or an automaton.

use std::path::Path;
use std::sync::Arc;

use echostack::automaton::{AutomatonError, AutomatonJsonError};
use echostack::language::{Language, Walks};
use echostack::name::UnknownName;
use echostack::recognize::Mode;
use echostack::tasks::Task;
use echostack::{Alphabet, Automaton, Control, Manifest, Oracle};

use crate::encode::Encoding;
use crate::error::GrammarError;
use crate::grammar::Grammar;
use crate::lexer::Lexer;

/// Why a subject cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// The name is none of a task.
    #[error(transparent)]
    Task(#[from] UnknownName),
    /// The grammar cannot be used.
    #[error("could not use the grammar {path}")]
    Grammar {
        /// The file or folder of the grammar.
        path: String,
        /// The reason.
        source: GrammarError,
    },
    /// The file of an automaton cannot be read.
    #[error("could not read {path}")]
    Io {
        /// The file.
        path: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The file holds no automaton.
    #[error("could not use {path}")]
    Json {
        /// The file.
        path: String,
        /// The reason.
        source: AutomatonJsonError,
    },
    /// The automaton has no strict oracle.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// The subject has no automaton: its words are vectors.
    #[error("{0} is no language of symbols")]
    NoLanguage(String),
    /// A model reads other tokens than those of the subject.
    #[error("the machine reads {read}, but {name} is written in {written}")]
    OtherTokens {
        /// The name of the subject.
        name: String,
        /// The tokens that the model reads.
        read: String,
        /// The tokens of the subject.
        written: String,
    },
}

/// What a model is made for, tested on and compared with: a task, a grammar or an automaton.
///
/// ```
/// use echostack::recognize::Mode;
/// use echostack_grammar::{Encoding, Subject};
/// let subject = Subject::named("task:dyck1", Encoding::Auto, &())?;
/// assert_eq!(subject.name(), "dyck1");
/// assert_eq!(subject.oracle(Mode::Strict, &())?.automaton().rules().len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Subject {
    name: String,
    task: Option<Task>,
    language: Option<Arc<dyn Language>>,
    alphabet: Arc<Alphabet>,
    lexer: Option<Lexer>,
    encoding: Option<Encoding>,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("name", &self.name).field("task", &self.task).finish_non_exhaustive()
    }
}

impl From<Task> for Subject {
    fn from(task: Task) -> Self {
        let (language, alphabet) = (task.language(), task.alphabet());
        Self { name: task.name().to_string(), task: Some(task), language, alphabet, lexer: None, encoding: None }
    }
}

impl Subject {
    /// What a name stands for: `task:NAME`, `grammar:PATH`, the bare name of a task, or the file of an automaton.
    ///
    /// # Errors
    /// If there is no such task, or the file cannot be read or is faulty.
    pub fn named(name: &str, encoding: Encoding, control: &dyn Control) -> Result<Self, SubjectError> {
        if let Some(path) = name.strip_prefix("grammar:") {
            return Self::open_grammar(Path::new(path), encoding);
        }
        match parse_task(name) {
            Ok(task) => Ok(task.into()),
            Err(error) if name.starts_with("task:") => Err(error.into()),
            Err(_) => Self::open_automaton(Path::new(name), control),
        }
    }

    /// A grammar, and the lexer that makes its tokens of texts, if there is one.
    pub fn of_grammar(grammar: Grammar, lexer: Option<Lexer>) -> Self {
        let encoding = Some(grammar.encoding());
        Self { lexer, encoding, ..Self::of_language(grammar.to_string(), Arc::new(grammar)) }
    }

    /// Reads a grammar, and its lexer if it has one, as [`Grammar::open`] does.
    ///
    /// # Errors
    /// If a file cannot be read or is faulty.
    pub fn open_grammar(path: &Path, encoding: Encoding) -> Result<Self, SubjectError> {
        let opened = Grammar::open(path, encoding);
        let refused = |source| SubjectError::Grammar { path: path.display().to_string(), source };
        let (grammar, lexer) = opened.map_err(refused)?;
        Ok(Self::of_grammar(grammar, lexer))
    }

    /// An automaton, whose words are random walks.
    ///
    /// # Errors
    /// If it has no strict oracle, or the work is cancelled.
    pub fn of_automaton(name: &str, automaton: Automaton, control: &dyn Control) -> Result<Self, AutomatonError> {
        let walks = Walks::new(name, Oracle::controlled(automaton, control)?);
        Ok(Self::of_language(name.to_string(), Arc::new(walks)))
    }

    /// Reads an automaton in JSON.
    ///
    /// # Errors
    /// If the file cannot be read or is faulty.
    pub fn open_automaton(path: &Path, control: &dyn Control) -> Result<Self, SubjectError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| SubjectError::Io { path: name.clone(), source })?;
        let automaton = Automaton::from_json(&text);
        let automaton = automaton.map_err(|source| SubjectError::Json { path: name.clone(), source })?;
        Ok(Self::of_automaton(&name, automaton, control)?)
    }

    fn of_language(name: String, language: Arc<dyn Language>) -> Self {
        let alphabet = language.automaton().alphabet().clone();
        Self { name, task: None, language: Some(language), alphabet, lexer: None, encoding: None }
    }

    /// The name of the task or grammar, or the file of the automaton.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The task, if the subject is one.
    pub fn task(&self) -> Option<Task> {
        self.task
    }

    /// The language; the copy tasks, whose words are vectors, have none.
    pub fn language(&self) -> Option<&Arc<dyn Language>> {
        self.language.as_ref()
    }

    /// The language, or an error that says that there is none.
    ///
    /// # Errors
    /// If the words of the subject are vectors.
    pub fn require_language(&self) -> Result<&Arc<dyn Language>, SubjectError> {
        self.language().ok_or_else(|| SubjectError::NoLanguage(self.name.clone()))
    }

    /// The symbols of the subject.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// The lexer, if the subject is a grammar of texts.
    pub fn lexer(&self) -> Option<&Lexer> {
        self.lexer.as_ref()
    }

    /// How the grammar became rules, if the subject is one.
    pub fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// The oracle of the language in a mode.
    ///
    /// # Errors
    /// If there is no language, or no strict oracle of it.
    pub fn oracle(&self, mode: Mode, control: &dyn Control) -> Result<Oracle, SubjectError> {
        let automaton = self.require_language()?.automaton().clone();
        Ok(match mode {
            Mode::Strict => Oracle::controlled(automaton, control)?,
            Mode::Tolerant => Oracle::tolerant(automaton),
        })
    }

    /// Notes in the manifest of a model what the model was made for.
    pub fn note(&self, manifest: &mut Manifest) {
        if self.task.is_some() {
            manifest.set_task(&self.name);
        } else {
            manifest.set_language(&self.name);
        }
        if let Some(lexer) = &self.lexer {
            manifest.set_lexer(lexer.source());
        }
        if let Some(encoding) = self.encoding {
            manifest.set_encoding(encoding);
        }
    }

    /// Checks that a model with this alphabet reads the tokens of the subject.
    ///
    /// # Errors
    /// If it reads others.
    pub fn check_tokens(&self, model: &Alphabet) -> Result<(), SubjectError> {
        let [read, written] = [model, &self.alphabet]
            .map(|alphabet| -> Vec<&str> { alphabet.terminals().map(|symbol| alphabet.name(symbol)).collect() });
        if read == written {
            return Ok(());
        }
        let (name, read, written) = (self.name.clone(), read.join(" "), written.join(" "));
        Err(SubjectError::OtherTokens { name, read, written })
    }
}

/// The task of a name, which may begin with `task:`.
///
/// # Errors
/// If there is no such task.
pub fn parse_task(name: &str) -> Result<Task, UnknownName> {
    name.strip_prefix("task:").unwrap_or(name).parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(subject: &Subject) -> Vec<(String, String)> {
        let mut manifest = Manifest::default();
        subject.note(&mut manifest);
        manifest.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_name_stands_for_a_task_a_grammar_or_an_automaton() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("grammar.y"), "%start S\n%%\nS: 'x' S |;\n").unwrap();
        std::fs::write(path("lexer.l"), "%%\nx \"x\"\n[ ]+ ;\n").unwrap();
        let named = |name: &str| Subject::named(name, Encoding::Auto, &());

        let grammar = named(&format!("grammar:{}", folder.path().display())).unwrap();
        let encoding = grammar.encoding().unwrap();
        assert_eq!(grammar.lexer().unwrap().names(), ["x"]);
        let keys: Vec<String> = noted(&grammar).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["encoding", "language", "lexer"]);
        assert_eq!(noted(&grammar)[0].1.parse(), Ok(encoding));

        std::fs::write(path("automaton.json"), grammar.language().unwrap().automaton().to_json()).unwrap();
        let automaton = named(&path("automaton.json")).unwrap();
        assert_eq!(noted(&automaton), [("language".to_string(), path("automaton.json"))]);
        automaton.check_tokens(grammar.alphabet()).unwrap();

        let task = named("copy").unwrap();
        assert_eq!(noted(&task), [("task".to_string(), "copy".to_string())]);
        let message = task.oracle(Mode::Strict, &()).unwrap_err().to_string();
        assert_eq!(message, "copy is no language of symbols");
        let message = named("task:dyck1").unwrap().check_tokens(grammar.alphabet()).unwrap_err().to_string();
        assert_eq!(message, "the machine reads x, but dyck1 is written in ( )");
        assert!(matches!(named("task:nothing"), Err(SubjectError::Task(_))));
        assert!(matches!(named("nothing"), Err(SubjectError::Io { .. })));
        assert!(matches!(named("grammar:nothing"), Err(SubjectError::Grammar { .. })));
    }
}

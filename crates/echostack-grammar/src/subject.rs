//! The subjects that models are made for: tasks, grammars and automata.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use echostack::automaton::{AutomatonError, AutomatonJsonError};
#[cfg(feature = "machine")]
use echostack::certify::Proof;
use echostack::certify::{CertifyError, Translation};
use echostack::file::{FileError, MAX_BYTES, read_text};
use echostack::language::{Language, Walks};
use echostack::name::UnknownName;
use echostack::recognize::Mode;
use echostack::tasks::Task;
use echostack::{Alphabet, Automaton, Certificate, Control, Manifest, Oracle, Table};

use crate::grammar::Grammar;
use crate::lex::lexer::Lexer;
use crate::lr::encode::Encoding;
use crate::meaning::translation::follows;
use crate::text::error::{GrammarError, Warning, list};
use crate::text::limits::GrammarLimits;

/// The reason why a subject cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// There is no task with this name.
    #[error(transparent)]
    Task(#[from] UnknownName),
    /// The grammar cannot be used.
    #[error("could not use the grammar{}", if source.names_file() { String::new() } else { format!(" {path}") })]
    Grammar {
        /// The file or folder of the grammar.
        path: String,
        /// The reason.
        source: GrammarError,
    },
    /// The lexer does not produce all terminals of the grammar.
    #[error(
        "the lexer of {name} never produces {}, which the grammar has: a proof would be about words that no text \
         stands for; add a rule to the lexer for each terminal, or remove it from the grammar",
        list(&missing.iter().map(String::as_str).collect::<Vec<_>>())
    )]
    Lexer {
        /// The name of the subject.
        name: String,
        /// The terminals that are not produced.
        missing: Vec<String>,
    },
    /// The file of an automaton could not be read.
    #[error("could not read the automaton")]
    File(#[from] FileError),
    /// The file is not a valid automaton.
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
    /// The subject has no automaton, because its words are vectors.
    #[error("{0} is not a language: its words are vectors, not symbols")]
    NoLanguage(String),
    /// The tokens that the model reads are not those of the subject.
    #[error("the machine reads the tokens {read}, but the tokens of {name} are {written}")]
    OtherTokens {
        /// The name of the subject.
        name: String,
        /// The tokens that the model reads.
        read: String,
        /// The tokens of the subject.
        written: String,
    },
}

/// A task, a grammar or an automaton that models are made for, tested on and compared with.
///
/// ```
/// use echostack::recognize::Mode;
/// use echostack_grammar::{Encoding, GrammarLimits, Subject};
/// let subject = Subject::named("task:dyck1", Encoding::Auto, &GrammarLimits::default(), &())?;
/// assert_eq!(subject.name(), "dyck1");
/// assert_eq!(subject.oracle(Mode::Strict, &())?.automaton().rules().len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Subject {
    name: String,
    task: Option<Task>,
    language: Option<Arc<dyn Language>>,
    alphabet: Arc<Alphabet>,
    grammar: Option<Arc<Grammar>>,
    lexer: Option<Lexer>,
    warnings: Vec<Warning>,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("name", &self.name).field("task", &self.task).finish_non_exhaustive()
    }
}

impl From<Task> for Subject {
    fn from(task: Task) -> Self {
        let (language, alphabet) = (task.language(), task.alphabet());
        let name = task.name().to_string();
        Self { name, task: Some(task), language, alphabet, grammar: None, lexer: None, warnings: Vec::new() }
    }
}

impl Subject {
    /// Opens the subject that a name stands for: `task:NAME`, `grammar:PATH`, a path, or the bare name of a task. A
    /// folder, or a file whose name ends with `.y`, is a grammar; any other file is an automaton. A bare name is a path if
    /// there is a file or a folder with that name.
    ///
    /// # Errors
    /// If there is no such task, or if the file cannot be read or is invalid.
    pub fn named(
        name: &str,
        encoding: Encoding,
        limits: &GrammarLimits,
        control: &dyn Control,
    ) -> Result<Self, SubjectError> {
        if let Some(path) = name.strip_prefix("grammar:") {
            return Self::open_grammar_within(Path::new(path), encoding, limits);
        }
        let path = Path::new(name);
        match parse_task(name) {
            Ok(task) if name.starts_with("task:") || !path.exists() => Ok(task.into()),
            Err(error) if name.starts_with("task:") => Err(error.into()),
            _ if Self::is_grammar(path) => Self::open_grammar_within(path, encoding, limits),
            _ => Self::open_automaton(path, control),
        }
    }

    /// Creates a subject from a grammar and the lexer that splits texts into its tokens, if there is one.
    pub fn of_grammar(grammar: Grammar, lexer: Option<Lexer>) -> Self {
        let (warnings, grammar) = (grammar.warnings().to_vec(), Arc::new(grammar));
        let language = Self::of_language(grammar.to_string(), grammar.clone());
        let mut this = Self { grammar: Some(grammar), lexer, warnings, ..language };
        this.compare_lexer();
        this
    }

    /// Returns whether a path stands for a grammar: a folder, or a file whose name ends with `.y`.
    pub fn is_grammar(path: &Path) -> bool {
        path.is_dir() || path.extension().is_some_and(|ending| ending == "y")
    }

    /// Reads a grammar and its lexer, if it has one, like [`Grammar::open`].
    ///
    /// # Errors
    /// If a file cannot be read, or its contents are invalid.
    pub fn open_grammar(path: &Path, encoding: Encoding) -> Result<Self, SubjectError> {
        Self::open_grammar_within(path, encoding, &GrammarLimits::default())
    }

    /// Reads a grammar and its lexer within limits, like [`Grammar::open_within`].
    ///
    /// # Errors
    /// If a file cannot be read, its contents are invalid, or a limit is exceeded.
    pub fn open_grammar_within(path: &Path, encoding: Encoding, limits: &GrammarLimits) -> Result<Self, SubjectError> {
        let opened = Grammar::open_within(path, encoding, limits);
        let refused = |source| SubjectError::Grammar { path: path.display().to_string(), source };
        let (grammar, lexer) = opened.map_err(refused)?;
        Ok(Self::of_grammar(grammar, lexer))
    }

    /// Returns the grammar and the lexer that a model was made from, if its manifest has the grammar.
    ///
    /// # Errors
    /// If they are not valid.
    pub fn of_manifest(manifest: &Manifest, limits: &GrammarLimits) -> Result<Option<Self>, SubjectError> {
        let Some(text) = manifest.grammar() else { return Ok(None) };
        let name = manifest.language().or(manifest.task()).unwrap_or("grammar");
        let encoding = manifest.encoding().and_then(|name| name.parse().ok()).unwrap_or(Encoding::Auto);
        let refused = |source| SubjectError::Grammar { path: name.to_string(), source };
        let grammar = Grammar::new_within(name, text, encoding, limits).map_err(refused)?;
        let lexer = manifest.lexer().map(|text| Lexer::new_within(text, limits)).transpose();
        Ok(Some(Self::of_grammar(
            grammar,
            lexer.map_err(|error| refused(GrammarError::Lexer { path: "its lexer".into(), error }))?,
        )))
    }

    /// Creates a subject from an automaton. Its words are drawn by random walks.
    ///
    /// # Errors
    /// If the automaton has no strict oracle, or if the control asks to stop.
    pub fn of_automaton(name: &str, automaton: Automaton, control: &dyn Control) -> Result<Self, AutomatonError> {
        let walks = Walks::new(name, Oracle::new(automaton, Mode::Strict, control)?);
        Ok(Self::of_language(name.to_string(), Arc::new(walks)))
    }

    /// Reads an automaton from a JSON file.
    ///
    /// # Errors
    /// If the file cannot be read or is invalid.
    pub fn open_automaton(path: &Path, control: &dyn Control) -> Result<Self, SubjectError> {
        let name = path.display().to_string();
        let text = read_text(path, MAX_BYTES)?;
        let automaton = Automaton::from_json(&text);
        let automaton = automaton.map_err(|source| SubjectError::Json { path: name.clone(), source })?;
        Ok(Self::of_automaton(&name, automaton, control)?)
    }

    fn of_language(name: String, language: Arc<dyn Language>) -> Self {
        let alphabet = language.automaton().alphabet().clone();
        let (task, language) = (None, Some(language));
        Self { name, task, language, alphabet, grammar: None, lexer: None, warnings: Vec::new() }
    }

    /// Adds warnings about terminals that the lexer does not produce, and about tokens that the grammar does not have.
    fn compare_lexer(&mut self) {
        let Some(lexer) = &self.lexer else { return };
        let mut warnings = lexer.warnings().to_vec();
        let missing = self.missing();
        if !missing.is_empty() {
            warnings.push(Warning::new(format!("the lexer never produces {}, which the grammar has", list(&missing))));
        }
        let terminals: HashSet<&str> = self.terminals().collect();
        // A rule that returns whatever character it finds leaves it to the grammar which of them are tokens.
        let named = lexer.produced().filter(|(_, named)| *named).map(|(name, _)| name);
        // YYUNDEF is bison's own token for what is not a token.
        let foreign: Vec<&str> = named.filter(|&name| !terminals.contains(name) && name != "YYUNDEF").collect();
        if !foreign.is_empty() {
            let message = format!("the lexer produces {}, which no word of the grammar contains", list(&foreign));
            warnings.push(Warning::new(message));
        }
        self.warnings.extend(warnings);
    }

    fn terminals(&self) -> impl Iterator<Item = &str> {
        self.alphabet.terminals().map(|symbol| self.alphabet.name(symbol))
    }

    /// Returns the terminals that the lexer never produces, if there is a lexer.
    fn missing(&self) -> Vec<&str> {
        let Some(lexer) = &self.lexer else { return Vec::new() };
        let produced: HashSet<&str> = lexer.produced().map(|(name, _)| name).collect();
        self.terminals().filter(|name| !produced.contains(name)).collect()
    }

    /// Returns the name of the task or grammar, or the path of the automaton file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the task, if the subject is a task.
    pub fn task(&self) -> Option<Task> {
        self.task
    }

    /// Returns the language. The copy tasks, whose words are vectors, have none.
    pub fn language(&self) -> Option<&Arc<dyn Language>> {
        self.language.as_ref()
    }

    /// Returns the language, or an error if there is none.
    ///
    /// # Errors
    /// If the words of the subject are vectors.
    pub fn require_language(&self) -> Result<&Arc<dyn Language>, SubjectError> {
        self.language().ok_or_else(|| SubjectError::NoLanguage(self.name.clone()))
    }

    /// Returns the symbols of the subject.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// Returns the lexer, if the subject is a grammar with a lexer.
    pub fn lexer(&self) -> Option<&Lexer> {
        self.lexer.as_ref()
    }

    /// Returns the encoding of the grammar as rules, if the subject is a grammar.
    pub fn encoding(&self) -> Option<Encoding> {
        self.grammar.as_ref().map(|grammar| grammar.encoding())
    }

    /// Returns the grammar, if the subject is one.
    pub fn grammar(&self) -> Option<&Grammar> {
        self.grammar.as_deref()
    }

    /// Returns what in the grammar and its lexer is probably not intended.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Checks that the lexer, if there is one, produces every terminal of the grammar.
    ///
    /// # Errors
    /// If there is a terminal that the lexer never produces.
    pub fn check_lexer(&self) -> Result<(), SubjectError> {
        let missing: Vec<String> = self.missing().into_iter().map(String::from).collect();
        if missing.is_empty() { Ok(()) } else { Err(SubjectError::Lexer { name: self.name.clone(), missing }) }
    }

    /// Returns the oracle of the language in a mode.
    ///
    /// # Errors
    /// If the subject has no language, or if the language has no strict oracle.
    pub fn oracle(&self, mode: Mode, control: &dyn Control) -> Result<Oracle, SubjectError> {
        let automaton = self.require_language()?.automaton().clone();
        Ok(Oracle::new(automaton, mode, control)?)
    }

    /// Compiles the subject to a table, without a machine. Its manifest says what the table was made for, and has the
    /// lexer.
    ///
    /// # Errors
    /// If the subject has no strict oracle, or if the table would be too large.
    pub fn table(&self, control: &dyn Control) -> Result<Table, SubjectError> {
        let mut manifest = Manifest::default();
        self.describe_in(&mut manifest);
        Ok(Table::compile(&self.oracle(Mode::Strict, control)?, manifest, control)?)
    }

    /// Checks that an automaton accepts the words of the grammar's text, and no others: the text is read again, and its
    /// LR(1) parser, computed by its definition, is compared with the automaton. Returns `None` if the subject is not a
    /// grammar, because then everything begins with the automaton.
    ///
    /// # Errors
    /// [`CertifyError::Translation`] if the automaton does not follow the grammar, or if the grammar is too large to be
    /// checked; [`CertifyError::Cancelled`] if the control asks to stop.
    pub fn check_translation(
        &self,
        oracle: &Oracle,
        control: &dyn Control,
    ) -> Result<Option<Translation>, CertifyError> {
        self.grammar.as_ref().map(|grammar| follows(grammar.source(), oracle, control)).transpose()
    }

    /// Checks that a model with this manifest splits texts into tokens with the grammar's lexer, if both have a lexer.
    ///
    /// # Errors
    /// [`CertifyError::Lexer`] if it has another lexer. The message shows the first line that differs.
    pub fn check_lexer_of(&self, manifest: &Manifest) -> Result<(), CertifyError> {
        let (Some(own), Some(other)) = (self.lexer.as_ref().map(Lexer::source), manifest.lexer()) else {
            return Ok(());
        };
        if own == other {
            return Ok(());
        }
        let mut lines = own.lines().zip(other.lines()).enumerate();
        let why = match lines.find(|(_, (own, other))| own != other) {
            Some((at, (own, other))) => {
                format!("line {} is {other:?} in the model, and {own:?} in {}", at + 1, self.name)
            }
            None => format!("it has {} bytes, and that of {} has {}", other.len(), self.name, own.len()),
        };
        Err(CertifyError::Lexer(why))
    }

    /// Extends a proof about the automaton to the grammar: checks the translation, and adds the digests of the grammar's
    /// text and of its lexer to the certificate. A proof that is open, or about a task or an automaton, stays as it is.
    ///
    /// # Errors
    /// The errors of [`check_translation`](Self::check_translation).
    #[cfg(feature = "machine")]
    pub fn cover(&self, proof: Proof, oracle: &Oracle, control: &dyn Control) -> Result<Proof, CertifyError> {
        match proof {
            Proof::Proved(certificate) => {
                self.check_translation(oracle, control)?;
                Ok(Proof::Proved(Box::new(self.named_in(*certificate))))
            }
            open @ Proof::Open { .. } => Ok(open),
        }
    }

    /// Adds the digests of the grammar's text and of its lexer to a certificate.
    pub fn named_in(&self, mut certificate: Certificate) -> Certificate {
        if let Some(grammar) = &self.grammar {
            certificate = certificate.with_grammar(grammar.source());
        }
        if let Some(lexer) = &self.lexer {
            certificate = certificate.with_lexer(lexer.source());
        }
        certificate
    }

    /// Checks that a certificate is about the grammar's text, if it names one, and that the automaton follows the text,
    /// whether it names one or not.
    ///
    /// # Errors
    /// [`CertifyError::Refused`] if the certificate names another text, and the errors of
    /// [`check_translation`](Self::check_translation).
    pub fn check_covered(
        &self,
        certificate: &Certificate,
        oracle: &Oracle,
        control: &dyn Control,
    ) -> Result<(), CertifyError> {
        match &self.grammar {
            Some(grammar) => certificate.check_grammar(grammar.source())?,
            None if certificate.grammar().is_some() => {
                let why = "it is about a grammar; compare with the grammar, not with its automaton";
                return Err(CertifyError::Refused(why.into()));
            }
            None => {}
        }
        if let (Some(lexer), true) = (&self.lexer, certificate.lexer().is_some()) {
            certificate.check_lexer(Some(lexer.source()))?;
        }
        self.check_translation(oracle, control)?;
        Ok(())
    }

    /// Says what a proof about a model for this subject covers, and what is trusted: a part of a sentence.
    pub fn coverage(&self, model: &str, manifest: &Manifest) -> String {
        let from = if self.grammar.is_some() { "the grammar's text" } else { "the automaton" };
        let trusted = match (&self.grammar, &self.lexer, manifest.lexer()) {
            (None, ..) => "; the automaton is trusted",
            (Some(_), _, None) => ", on words of tokens",
            (Some(_), Some(_), Some(_)) => "; the lexer is the grammar's own, and is trusted",
            (Some(_), None, Some(_)) => "; the lexer is trusted",
        };
        format!("from {from} to the {model}{trusted}")
    }

    /// Records in the manifest of a model what the model was made for.
    pub fn describe_in(&self, manifest: &mut Manifest) {
        if self.task.is_some() {
            manifest.set_task(&self.name);
        } else {
            manifest.set_language(&self.name);
        }
        if let Some(grammar) = &self.grammar {
            manifest.set_grammar(grammar.source());
            manifest.set_encoding(grammar.encoding());
        }
        if let Some(lexer) = &self.lexer {
            manifest.set_lexer(lexer.source());
        }
    }

    /// Checks that a model with this alphabet reads the tokens of the subject.
    ///
    /// # Errors
    /// If the model reads other tokens.
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

/// Parses the name of a task, which may begin with `task:`.
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
        subject.describe_in(&mut manifest);
        manifest.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_name_stands_for_a_task_a_grammar_or_an_automaton() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("grammar.y"), "%start S\n%%\nS: 'x' S |;\n").unwrap();
        std::fs::write(path("lexer.l"), "%%\nx \"x\"\n[ ]+ ;\n").unwrap();
        let named = |name: &str| Subject::named(name, Encoding::Auto, &GrammarLimits::default(), &());

        let grammar = named(&format!("grammar:{}", folder.path().display())).unwrap();
        let encoding = grammar.encoding().unwrap();
        for same in [folder.path().display().to_string(), path("grammar.y")] {
            assert_eq!(named(&same).unwrap().encoding(), Some(encoding));
        }
        for same in [folder.path().display().to_string(), path("grammar.y")] {
            assert_eq!(named(&same).unwrap().lexer().unwrap().names(), ["x"]);
        }
        let keys: Vec<String> = noted(&grammar).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["encoding", "grammar", "language", "lexer"]);
        assert_eq!(noted(&grammar)[0].1.parse(), Ok(encoding));

        std::fs::write(path("automaton.json"), grammar.language().unwrap().automaton().to_json()).unwrap();
        let automaton = named(&path("automaton.json")).unwrap();
        assert_eq!(noted(&automaton), [("language".to_string(), path("automaton.json"))]);
        automaton.check_tokens(grammar.alphabet()).unwrap();

        let task = named("copy").unwrap();
        assert_eq!(noted(&task), [("task".to_string(), "copy".to_string())]);
        let message = task.oracle(Mode::Strict, &()).unwrap_err().to_string();
        assert_eq!(message, "copy is not a language: its words are vectors, not symbols");
        let message = named("task:dyck1").unwrap().check_tokens(grammar.alphabet()).unwrap_err().to_string();
        assert_eq!(message, "the machine reads the tokens x, but the tokens of dyck1 are ( )");
        assert!(matches!(named("task:nothing"), Err(SubjectError::Task(_))));
        assert!(matches!(named("nothing"), Err(SubjectError::File(_))));
        assert!(matches!(named("grammar:nothing"), Err(SubjectError::Grammar { .. })));
    }

    #[test]
    fn a_lexer_is_compared_with_the_terminals() {
        let checked = |lexer: &str| {
            let grammar = Grammar::new("sums", "%%\nS: S '+' 'n' | 'n';\n", Encoding::Auto).unwrap();
            Subject::of_grammar(grammar, Some(Lexer::new(lexer).unwrap())).check_lexer()
        };
        checked("%%\nn \"n\"\n\\+ \"+\"\n").unwrap();
        let message = checked("%%\nm \"m\"\nn \"n\"\n").unwrap_err().to_string();
        assert!(message.starts_with("the lexer of sums never produces +, which the grammar has: "), "{message}");
    }

    #[test]
    fn an_error_names_the_file_and_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let told = |path: &Path| {
            let error = Subject::open_grammar(path, Encoding::Auto).unwrap_err();
            let source = std::error::Error::source(&error).unwrap().to_string();
            format!("{error}: {}", source.lines().next().unwrap())
        };
        std::fs::write(path("sums.y"), "%start S\n%%\nS: 'x' T;\n").unwrap();
        let expected = "sums.y:3:8: T has no rules and is not declared as a token; write a rule, or declare %token T";
        assert_eq!(told(&path("sums.y")), format!("could not use the grammar: {}", path(expected).display()));
        std::fs::write(path("grammar.y"), "%%\nS: 'x' S;\n").unwrap();
        let expected = format!("could not use the grammar {}: the start symbol S derives", folder.path().display());
        assert!(told(folder.path()).starts_with(&expected));
        std::fs::write(path("grammar.y"), "%%\nS: 'x';\n").unwrap();
        std::fs::write(path("lexer.l"), "%%\nx x\n").unwrap();
        let expected = format!("could not use the grammar: {}:2:", path("lexer.l").display());
        assert!(told(folder.path()).starts_with(&expected), "{}", told(folder.path()));
    }
}

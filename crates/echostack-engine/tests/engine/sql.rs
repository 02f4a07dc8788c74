//! Tests of the SQL functions: each file in scripts/ contains queries with their expected results.

use std::path::Path;

use async_trait::async_trait;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use echostack::language::Language;
use echostack::reservoir::ReservoirKind;
use echostack::tasks::{Split, Task};
use echostack::{Manifest, Oracle, Table};
use echostack_engine::{Models, Question, function, register};
use echostack_grammar::{Encoding, Grammar};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};

/// Returns the bytes of the table of a task's automaton.
fn table(task: Task) -> Vec<u8> {
    let automaton = Oracle::strict(task.automaton().unwrap()).unwrap();
    Table::new(&automaton, Manifest::default()).unwrap().to_bytes().unwrap()
}

/// Returns the models that the scripts name.
fn models() -> Models {
    let mut models = Models::default();
    models.add("anbn", &table(Task::Anbn), None).unwrap();
    models.add("dyck2", &table(Task::Dyck2), None).unwrap();
    let machine = Task::Dyck2.params(ReservoirKind::Cycle, 64, 0).check().unwrap();
    let machine = machine.fit(&Task::Dyck2.alphabet(), &Task::Dyck2.examples(Split::Train, 100, 0), &()).unwrap();
    models.add("dyck2 machine", &machine.to_bytes().unwrap(), None).unwrap();
    // Grammars read strings, so the lexer becomes part of the table.
    for name in ["arithmetic", "json"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
        let (grammar, _) = Grammar::open(&folder, Encoding::Auto).unwrap();
        let lexer = std::fs::read_to_string(folder.join("lexer.l")).unwrap();
        let mut manifest = Manifest::default();
        manifest.set_lexer(lexer);
        let table = Table::new(&Oracle::strict(grammar.automaton().clone()).unwrap(), manifest).unwrap();
        models.add(name, &table.to_bytes().unwrap(), None).unwrap();
    }
    models
}

/// A session as the scripts see it.
struct Database(SessionContext);

#[async_trait]
impl AsyncDB for Database {
    type Error = DataFusionError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, DataFusionError> {
        let batches = self.0.sql(sql).await?.collect().await?;
        let options = FormatOptions::default().with_null("NULL");
        let mut rows = Vec::new();
        for batch in &batches {
            let columns: Vec<ArrayFormatter<'_>> = batch
                .columns()
                .iter()
                .map(|column| ArrayFormatter::try_new(column, &options))
                .collect::<Result<_, _>>()?;
            for row in 0..batch.num_rows() {
                let value = |column: &ArrayFormatter<'_>| match column.value(row).to_string() {
                    value if value.is_empty() => "(empty)".to_string(),
                    value => value,
                };
                rows.push(columns.iter().map(value).collect());
            }
        }
        let Some(batch) = batches.first() else { return Ok(DBOutput::StatementComplete(0)) };
        Ok(DBOutput::Rows { types: vec![DefaultColumnType::Any; batch.num_columns()], rows })
    }

    async fn shutdown(&mut self) {}
}

#[tokio::test]
async fn scripts() {
    let models = models();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/scripts");
    let mut scripts: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    for script in scripts {
        // Batches of two rows must give the same results as whole columns.
        for rows in [8192, 2] {
            let mut runner = Runner::new(|| async {
                let session = SessionContext::new_with_config(SessionConfig::new().with_batch_size(rows));
                register(&session, &models);
                Ok(Database(session))
            });
            runner.run_file_async(&script).await.unwrap_or_else(|error| panic!("{}", error.display(false)));
        }
    }
}

/// Each query of the page has the result that is shown below it, if there is one.
#[tokio::test]
async fn the_page_on_sql_shows_real_results() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = std::fs::read_to_string(page).unwrap();
    let session = SessionContext::new();
    register(&session, &models());
    let mut database = Database(session);
    let mut shown = 0;
    for part in page.split("```sql\n").skip(1) {
        let (query, rest) = part.split_once("```\n").unwrap();
        // A statement without a result has no rows.
        let rows = match database.run(query).await.unwrap() {
            DBOutput::Rows { rows, .. } => rows,
            _ => Vec::new(),
        };
        if let Some(text) = rest.strip_prefix("```text\n") {
            let expected: Vec<&str> = text.split("```").next().unwrap().lines().collect();
            let rows: Vec<String> = rows.iter().map(|row| row.join(", ")).collect();
            assert_eq!(rows, expected, "{query}");
            shown += 1;
        }
    }
    assert_eq!(shown, 4);
}

#[test]
fn functions_are_equal_if_their_models_are() {
    let [mut one, mut other] = [Models::default(), Models::default()];
    one.add("a", &table(Task::Dyck1), None).unwrap();
    other.add("a", &table(Task::Dyck1), None).unwrap();
    let of = |models: &Models| function(Question::Verdict, models);
    assert_eq!(of(&one), of(&other));
    assert_ne!(of(&one), function(Question::Accepts, &one));
    other.add("a", &table(Task::Dyck2), None).unwrap();
    assert_ne!(of(&one), of(&other));
    other.add("a", &table(Task::Dyck1), None).unwrap();
    other.add("b", &table(Task::Dyck1), None).unwrap();
    assert_ne!(of(&one), of(&other));
    assert!(one.add("c", b"no model", None).is_err());
    let mut small = Models::within("bytes=100".parse().unwrap());
    assert!(small.add("a", &table(Task::Dyck1), None).unwrap_err().to_string().contains("the limit is 100"));
}

//! The SQL functions that judge words.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, new_empty_array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{
    Result, ScalarValue, exec_datafusion_err, exec_err, internal_err, plan_datafusion_err, plan_err,
};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::prelude::SessionContext;
use echostack::Limits;
use echostack::recognize::Outcome;
use echostack_arrow::{Words, action_list, verdict_fields, verdicts};
use echostack_grammar::Judge;
use serde::{Deserialize, Serialize};

use crate::models::Models;

/// The question that a function answers for each word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Question {
    /// The verdict, and the position of the token that cannot follow.
    Verdict,
    /// True if the word is accepted.
    Accepts,
    /// The actions on the stack.
    Actions,
}

impl Question {
    /// All questions.
    pub const ALL: [Self; 3] = [Self::Verdict, Self::Accepts, Self::Actions];

    /// Returns the name of the function that answers this question.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "echostack_verdict",
            Self::Accepts => "echostack_accepts",
            Self::Actions => "echostack_actions",
        }
    }

    fn answer_type(self) -> DataType {
        match self {
            Self::Verdict => DataType::Struct(verdict_fields()),
            Self::Accepts => DataType::Boolean,
            Self::Actions => action_list(),
        }
    }

    /// Returns the answers for a column of words.
    fn answer(self, judge: &Judge, column: &dyn Array) -> Result<ArrayRef> {
        let words = Words::read(column, judge).map_err(|error| exec_datafusion_err!("{}: {error}", self.name()))?;
        let limits = Limits::default();
        Ok(match self {
            Self::Verdict => Arc::new(verdicts(&words.judge(judge, limits))),
            Self::Accepts => {
                let outcomes = words.judge(judge, limits);
                self.refuse_stopped(&outcomes)?;
                let accepts = outcomes.into_iter().map(|outcome| outcome.map(Outcome::is_accept));
                Arc::new(accepts.collect::<BooleanArray>())
            }
            Self::Actions => {
                let (actions, outcomes) = words.actions(judge, limits);
                self.refuse_stopped(&outcomes)?;
                Arc::new(actions)
            }
        })
    }

    /// Fails if an outcome is `Stopped`: a word on which a limit was reached is neither known to be in the language nor
    /// known not to be, and its list of actions is not complete.
    fn refuse_stopped(self, outcomes: &[Option<Outcome>]) -> Result<()> {
        for (row, outcome) in outcomes.iter().enumerate() {
            if let Some(Outcome::Stopped { position, limit }) = outcome {
                let name = self.name();
                return exec_err!(
                    "{name}: row {row} of a batch was stopped at token {position} by the limit of {limit}; \
                     echostack_verdict reports such rows without an error"
                );
            }
        }
        Ok(())
    }
}

/// Returns the function that answers a question, for the given models.
pub fn function(question: Question, models: &Models) -> ScalarUDF {
    let signature = Signature::any(2, Volatility::Immutable);
    ScalarUDF::new_from_impl(Function { question, models: models.clone(), signature })
}

/// Registers all functions with a session, for the given models.
pub fn register(session: &SessionContext, models: &Models) {
    Question::ALL.iter().for_each(|question| session.register_udf(function(*question, models)));
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    question: Question,
    models: Models,
    signature: Signature,
}

impl Function {
    pub(crate) fn question(&self) -> Question {
        self.question
    }

    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// Returns the model that the first argument names.
    fn model(&self, name: Option<&ScalarValue>) -> Result<&Judge> {
        let Some(Some(Some(name))) = name.map(ScalarValue::try_as_str) else {
            return plan_err!("the first argument of {} must be the name of a model, in quotes", self.name());
        };
        let judge = self.models.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.models.names().collect();
            plan_datafusion_err!("there is no model {name:?}; the models are {}", known.join(", "))
        })?;
        Ok(judge)
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.question.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the return type depends on the arguments' values")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let judge = self.model(args.scalar_arguments[0])?;
        let words = args.arg_fields[1].data_type();
        if *words != DataType::Null {
            let read = Words::read(&new_empty_array(words), judge);
            read.map_err(|error| plan_datafusion_err!("{}: {error}", self.name()))?;
        }
        Ok(Arc::new(Field::new(self.name(), self.question.answer_type(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [ColumnarValue::Scalar(name), words] = args.args.as_slice() else {
            return plan_err!("the first argument of {} must be the name of a model, in quotes", self.name());
        };
        let judge = self.model(Some(name))?;
        if words.data_type() == DataType::Null {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_new_null(args.return_type())?));
        }
        match words {
            ColumnarValue::Array(words) => Ok(ColumnarValue::Array(self.question.answer(judge, words)?)),
            ColumnarValue::Scalar(word) => {
                let answer = self.question.answer(judge, &word.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&answer, 0)?))
            }
        }
    }
}

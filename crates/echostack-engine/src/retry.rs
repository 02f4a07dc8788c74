//! Recognizing the errors that mean that an executor of a cluster was lost.

use ballista_core::error::BallistaError;
use datafusion::common::DataFusionError;
use tonic::{Code, Status};

/// Returns true if an error means that an executor was lost together with results that it had finished. The scheduler
/// does not compute these results again, because it considers the query finished.
pub(crate) fn is_lost(error: &DataFusionError) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        let ballista = error.downcast_ref::<BallistaError>().is_some_and(|error| {
            use BallistaError::{FetchFailed, GrpcConnectionError, TonicError};
            matches!(error, FetchFailed(..) | GrpcConnectionError(_) | TonicError(_))
        });
        let status = error.downcast_ref::<Status>();
        let status = status.or_else(|| error.downcast_ref::<Box<Status>>().map(Box::as_ref));
        let execution = error.downcast_ref::<DataFusionError>().is_some_and(is_told);
        if ballista || execution || status.is_some_and(is_broken) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns true if an error says so in words: where a client fetches results, Ballista turns its own errors into text.
fn is_told(error: &DataFusionError) -> bool {
    let DataFusionError::Execution(text) = error else { return false };
    let status = |code: &Code| text.starts_with(&format!("GrpcError(Status {{ code: {code:?}"));
    ["GrpcConnectionError(", "TonicError(", "FetchFailed("].iter().any(|kind| text.starts_with(kind))
        || BROKEN.iter().any(status)
}

/// The codes of calls that failed because the other side was lost.
const BROKEN: [Code; 5] = [Code::Unknown, Code::Unavailable, Code::Cancelled, Code::Aborted, Code::Internal];

/// Returns true if a call failed because the other side was lost.
fn is_broken(status: &Status) -> bool {
    BROKEN.contains(&status.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_of_an_executor_is_recognized_as_an_error_and_as_text() {
        let error = BallistaError::GrpcConnectionError("connection refused".into());
        let told = DataFusionError::Execution(format!("{error:?}"));
        assert!(is_lost(&told) && is_lost(&told.context("in a file")));
        assert!(is_lost(&DataFusionError::External(Box::new(error))));
        let status = |status: Status| {
            let error = BallistaError::GrpcError(Box::new(status));
            is_lost(&DataFusionError::Execution(format!("{error:?}")))
        };
        assert!(status(Status::unavailable("gone")) && !status(Status::permission_denied("outside the list")));
        assert!(!is_lost(&DataFusionError::Execution("division by zero".to_string())));
    }
}

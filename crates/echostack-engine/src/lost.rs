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
        if ballista || status.is_some_and(is_broken) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns true if a call failed because the other side was lost.
fn is_broken(status: &Status) -> bool {
    matches!(status.code(), Code::Unknown | Code::Unavailable | Code::Cancelled | Code::Aborted | Code::Internal)
}

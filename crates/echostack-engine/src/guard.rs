//! What an executor agrees to do: which plans it runs, and which results it hands over.

use std::sync::Arc;

use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo, HandshakeRequest, PollInfo, SchemaResult, Ticket,
};
use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::execution_plans::{
    RangeShuffleReaderExec, RangeShuffleWriterExec, ShuffleReaderExec, ShuffleWriterExec, SortShuffleWriterExec,
};
use ballista_core::serde::decode_protobuf;
use ballista_core::serde::scheduler::{Action as Fetch, PartitionLocation};
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use ballista_executor::flight_service::BallistaFlightService;
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::common::{Result, exec_err};
use datafusion::datasource::file_format::csv::CsvSink;
use datafusion::datasource::file_format::json::JsonSink;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::physical_plan::parquet::ParquetSink;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileSink, FileSinkConfig};
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::memory::LazyMemoryExec;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::prelude::SessionConfig;
use object_store::path::Path;
use tonic::{Request, Response, Status, Streaming};

use crate::access::{Access, Deed};

/// An engine that runs only plans whose nodes it knows and whose files are in the list.
pub(crate) struct GuardedEngine {
    engine: DefaultExecutionEngine,
    access: Arc<Access>,
}

impl GuardedEngine {
    pub(crate) fn new(access: Arc<Access>) -> Self {
        Self { engine: DefaultExecutionEngine::new(), access }
    }

    /// Checks a node below the one that writes the stage's results.
    fn accept(&self, job: &JobId, node: &Arc<dyn ExecutionPlan>) -> Result<()> {
        if node.is::<ShuffleWriterExec>() || node.is::<SortShuffleWriterExec>() || node.is::<RangeShuffleWriterExec>() {
            return exec_err!("a plan may write the results of a stage only at its end");
        } else if let Some(reader) = node.downcast_ref::<ShuffleReaderExec>() {
            accept_locations(job, &reader.partition)?;
        } else if let Some(reader) = node.downcast_ref::<RangeShuffleReaderExec>() {
            accept_locations(job, &reader.partition)?;
        } else if let Some(sink) = node.downcast_ref::<DataSinkExec>() {
            let Some(config) = sink_config(sink.sink()) else {
                return exec_err!("an executor does not write {}", sink.name());
            };
            let paths = config.table_paths.iter().map(ListingTableUrl::prefix);
            self.accept_files(Deed::Write, config.object_store_url.as_str(), paths)?;
        } else if let Some(source) = node.downcast_ref::<DataSourceExec>() {
            let source = source.data_source();
            if let Some(config) = source.downcast_ref::<FileScanConfig>() {
                let files = config.file_groups.iter().flat_map(FileGroup::files);
                let paths = files.map(|file| &file.object_meta.location);
                self.accept_files(Deed::Read, config.object_store_url.as_str(), paths)?;
            } else if source.downcast_ref::<MemorySourceConfig>().is_none() {
                return exec_err!("an executor does not read {source:?}");
            }
        } else if node.children().is_empty()
            && !(node.is::<EmptyExec>() || node.is::<PlaceholderRowExec>() || node.is::<LazyMemoryExec>())
        {
            return exec_err!("an executor does not run {}", node.name());
        }
        node.children().into_iter().try_for_each(|child| self.accept(job, child))
    }

    fn accept_files<'a>(&self, deed: Deed, root: &str, paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
        match paths.into_iter().find(|path| !self.access.allows(deed, root, path)) {
            Some(path) => exec_err!("{deed:?} {root}{path}: this executor was not allowed to"),
            None => Ok(()),
        }
    }
}

/// Checks that a plan reads only results of its own job, because a job's name becomes part of a path.
fn accept_locations(job: &JobId, partitions: &[Vec<PartitionLocation>]) -> Result<()> {
    if partitions.iter().flatten().all(|location| location.partition_id.job_id == *job) {
        return Ok(());
    }
    exec_err!("a plan may read only the results of its own job")
}

fn sink_config(sink: &dyn DataSink) -> Option<&FileSinkConfig> {
    let csv = sink.downcast_ref::<CsvSink>().map(FileSink::config);
    let json = || sink.downcast_ref::<JsonSink>().map(FileSink::config);
    let parquet = || sink.downcast_ref::<ParquetSink>().map(FileSink::config);
    csv.or_else(json).or_else(parquet)
}

impl ExecutionEngine for GuardedEngine {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        global_output_partition_ids: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        plan.children().into_iter().try_for_each(|child| self.accept(&job_id, child))?;
        let outputs = global_output_partition_ids;
        self.engine.create_query_stage_exec(job_id, stage_id, task_id, outputs, plan, work_dir, config)
    }
}

/// A service that hands over the results of jobs. A request names a job, and its name becomes part of a path, so names
/// that could lead out of the folder of results are refused.
pub(crate) struct GuardedResults(pub(crate) BallistaFlightService);

fn refuse_paths(request: &[u8]) -> Result<(), Status> {
    let Ok(Fetch::FetchPartition { job_id, .. }) = decode_protobuf(request) else {
        return Err(Status::invalid_argument("this is not a request for results"));
    };
    let is_name = |job: &str| !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_name(job_id.as_str()) { Ok(()) } else { Err(Status::invalid_argument("this is not the name of a job")) }
}

#[async_trait]
impl FlightService for GuardedResults {
    type DoActionStream = <BallistaFlightService as FlightService>::DoActionStream;
    type DoExchangeStream = <BallistaFlightService as FlightService>::DoExchangeStream;
    type DoGetStream = <BallistaFlightService as FlightService>::DoGetStream;
    type DoPutStream = <BallistaFlightService as FlightService>::DoPutStream;
    type HandshakeStream = <BallistaFlightService as FlightService>::HandshakeStream;
    type ListActionsStream = <BallistaFlightService as FlightService>::ListActionsStream;
    type ListFlightsStream = <BallistaFlightService as FlightService>::ListFlightsStream;

    async fn do_get(&self, request: Request<Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        refuse_paths(&request.get_ref().ticket)?;
        self.0.do_get(request).await
    }

    async fn do_action(&self, request: Request<Action>) -> Result<Response<Self::DoActionStream>, Status> {
        refuse_paths(&request.get_ref().body)?;
        self.0.do_action(request).await
    }

    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Result<Response<Self::DoPutStream>, Status> {
        self.0.do_put(request).await
    }

    async fn do_exchange(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        self.0.do_exchange(request).await
    }

    async fn handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        self.0.handshake(request).await
    }

    async fn list_actions(&self, request: Request<Empty>) -> Result<Response<Self::ListActionsStream>, Status> {
        self.0.list_actions(request).await
    }

    async fn list_flights(&self, request: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>, Status> {
        self.0.list_flights(request).await
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        self.0.get_schema(request).await
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        self.0.get_flight_info(request).await
    }

    async fn poll_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        self.0.poll_flight_info(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_job_is_not_a_path() {
        // An action that fetches the results of a job, as protobuf.
        let request = |job: &str| [&[0x1a, job.len() as u8 + 2, 0x0a, job.len() as u8], job.as_bytes()].concat();
        assert!(refuse_paths(&request("aB3-x")).is_ok());
        for job in ["..", "../secret", "/etc", "a/b", ""] {
            assert!(refuse_paths(&request(job)).unwrap_err().message().contains("not the name of a job"), "{job}");
        }
        assert!(refuse_paths(b"nonsense").is_err());
    }
}

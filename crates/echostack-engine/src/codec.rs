//! Serialization of our functions for a cluster, as names, digests and addresses of models. Each process reads a model
//! once, from its address, checks its digest, and keeps it.

use std::any::Any;
use std::collections::HashMap;
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference, exec_datafusion_err, exec_err, not_impl_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use echostack::file::FileLimits;
use serde::{Deserialize, Serialize};

use crate::access::{Access, Deed};
use crate::contexts::{self, Counting, Setting};
use crate::functions::{Function, Question, function};
use crate::models::{Models, Named};

/// A serialized function.
#[derive(Serialize, Deserialize)]
struct Carried {
    question: Question,
    models: Vec<Reference>,
}

/// A serialized model: where to read it, and the digest it must have.
#[derive(Serialize, Deserialize)]
struct Reference {
    name: String,
    address: String,
    digest: String,
}

/// What a process demands of the models that it is sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demands {
    /// The list of places from which they may be read; without one, they may be anywhere.
    pub(crate) access: Option<Arc<Access>>,
    /// What their files may contain.
    pub(crate) limits: FileLimits,
}

/// The maximum number of models that a process keeps.
const KEPT: usize = 64;

/// The models that a process has read, by the limits under which they were read, and by digest.
type Library = HashMap<(FileLimits, String), Named>;

/// Returns the models that this process has read.
fn library() -> &'static Mutex<Library> {
    static LIBRARY: OnceLock<Mutex<Library>> = OnceLock::new();
    LIBRARY.get_or_init(Mutex::default)
}

impl Reference {
    /// Returns the model, and reads it from its address unless this process has read it before. With a list, the
    /// address must be in it; the error for one that is not does not say whether it exists.
    fn resolve(&self, Demands { access, limits }: &Demands) -> Result<Named> {
        let mut library = library().lock().unwrap_or_else(PoisonError::into_inner);
        let key = (*limits, self.digest.clone());
        if let Some(known) = library.get(&key) {
            // It may have been read from another address, which need not be that of other processes.
            return Ok(known.clone().at(&self.address));
        }
        let Self { name, address, digest } = self;
        if access.as_ref().is_some_and(|access| !access.allows_file(Deed::Read, Path::new(address))) {
            return exec_err!("the model {name:?} is not in a folder that this process was allowed to use with --read");
        }
        let model = Named::open(Path::new(address), limits)
            .map_err(|error| exec_datafusion_err!("the model {name:?} cannot be used: {error}"))?;
        if model.digest() != *digest {
            return exec_err!("{address} is another model than the one that was sent: {} and {digest}", model.digest());
        }
        if library.len() >= KEPT {
            library.clear();
        }
        library.insert(key, model.clone());
        Ok(model)
    }
}

fn encode(function: &ScalarUDF, into: &mut Vec<u8>) -> Result<()> {
    let inner: &dyn Any = function.inner().as_ref();
    let Some(function) = inner.downcast_ref::<Function>() else { return Ok(()) };
    let reference = |(name, model): (&String, &Named)| {
        let address = model.address().ok_or_else(|| {
            exec_datafusion_err!("the model {name:?} has no address from which executors could read it")
        })?;
        Ok(Reference { name: name.clone(), address: address.into(), digest: model.digest() })
    };
    let models = function.models().named().map(reference).collect::<Result<_>>()?;
    let carried = Carried { question: function.question(), models };
    serde_json::to_writer(into, &carried).map_err(|error| exec_datafusion_err!("{error}"))
}

fn decode(name: &str, bytes: &[u8], demands: &Demands) -> Result<Arc<ScalarUDF>> {
    if Question::ALL.iter().all(|question| question.name() != name) {
        return not_impl_err!("there is no function {name}");
    }
    let carried: Carried =
        serde_json::from_slice(bytes).map_err(|error| exec_datafusion_err!("{name} cannot be read: {error}"))?;
    let mut models = Models::default();
    for reference in carried.models {
        models.insert(&reference.name, reference.resolve(demands)?);
    }
    Ok(Arc::new(function(carried.question, &models)))
}

fn encode_counting(function: &AggregateUDF, into: &mut Vec<u8>) -> Result<()> {
    let inner: &dyn Any = function.inner().as_ref();
    let Some(counting) = inner.downcast_ref::<Counting>() else { return Ok(()) };
    serde_json::to_writer(into, counting.setting()).map_err(|error| exec_datafusion_err!("{error}"))
}

fn decode_counting(name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
    if name != contexts::NAME {
        return not_impl_err!("there is no aggregate function {name}");
    }
    let setting: Setting =
        serde_json::from_slice(bytes).map_err(|error| exec_datafusion_err!("{name} cannot be read: {error}"))?;
    Ok(Arc::new(setting.function()))
}

/// Ballista's codec for logical plans, extended by our functions.
#[derive(Debug, Default)]
pub(crate) struct LogicalCarrier(BallistaLogicalExtensionCodec, Demands);

impl LogicalCarrier {
    pub(crate) fn new(demands: Demands) -> Self {
        Self(BallistaLogicalExtensionCodec::default(), demands)
    }
}

impl LogicalExtensionCodec for LogicalCarrier {
    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], ctx: &TaskContext) -> Result<Extension> {
        self.0.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        self.0.try_decode_table_provider(buf, table_ref, schema, ctx)
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        self.0.try_encode_table_provider(table_ref, node, buf)
    }

    fn try_decode_file_format(&self, buf: &[u8], ctx: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(&self, buf: &mut Vec<u8>, node: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.0.try_encode_file_format(buf, node)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        decode(name, buf, &self.1)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        decode_counting(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_counting(node, buf)
    }
}

/// Ballista's codec for physical plans, extended like [`LogicalCarrier`].
#[derive(Debug, Default)]
pub(crate) struct PhysicalCarrier(BallistaPhysicalExtensionCodec, Demands);

impl PhysicalCarrier {
    pub(crate) fn new(demands: Demands) -> Self {
        Self(BallistaPhysicalExtensionCodec::default(), demands)
    }
}

impl PhysicalExtensionCodec for PhysicalCarrier {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.try_decode(buf, inputs, ctx, converter)
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        self.0.try_encode(node, buf, converter)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        decode(name, buf, &self.1)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        decode_counting(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_counting(node, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use echostack::tasks::Task;
    use echostack::{Manifest, Oracle, Table};

    fn table(task: Task) -> Vec<u8> {
        let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
        Table::new(&oracle, Manifest::default()).unwrap().to_bytes().unwrap()
    }

    #[test]
    fn functions_arrive_with_their_models_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let address = Some(path.to_string_lossy().into_owned());
        let carried = |bytes: &[u8], address: Option<String>| {
            let mut models = Models::default();
            models.add("m", bytes, address).unwrap();
            let sent = function(Question::Accepts, &models);
            let mut buffer = Vec::new();
            encode(&sent, &mut buffer).map(|()| (sent, buffer))
        };
        let (sent, buffer) = carried(&table(Task::Dyck1), address.clone()).unwrap();
        let decode = |name: &str, bytes: &[u8]| super::decode(name, bytes, &Demands::default());
        assert!(decode(sent.name(), &buffer).unwrap_err().to_string().contains("cannot be used"));
        std::fs::write(&path, table(Task::Dyck2)).unwrap();
        assert!(decode(sent.name(), &buffer).unwrap_err().to_string().contains("another model"));
        // Outside the list, a model that is there and one that is not have the same error.
        let within = |access| Demands { access: Some(Arc::new(access)), ..Demands::default() };
        let refused = || super::decode(sent.name(), &buffer, &within(Access::default())).unwrap_err().to_string();
        std::fs::write(&path, table(Task::Dyck1)).unwrap();
        let there = refused();
        std::fs::remove_file(&path).unwrap();
        assert!(there == refused() && there.contains("--read"), "{there}");
        std::fs::write(&path, table(Task::Dyck1)).unwrap();
        let allowed = Access::new(&[folder.path().to_string_lossy().into_owned()], &[]).unwrap();
        assert_eq!(*super::decode(sent.name(), &buffer, &within(allowed)).unwrap(), sent);
        assert_eq!(*decode(sent.name(), &buffer).unwrap(), sent);
        // A model that is known within other limits is read again.
        let limits: FileLimits = "bytes=100".parse().unwrap();
        let refused = super::decode(sent.name(), &buffer, &Demands { access: None, limits }).unwrap_err();
        assert!(refused.to_string().contains("the limit is 100"), "{refused}");
        // The model is kept: the file is not read again.
        std::fs::remove_file(&path).unwrap();
        assert_eq!(*decode(sent.name(), &buffer).unwrap(), sent);
        assert!(decode("another", &buffer).is_err() && decode(sent.name(), b"{}").is_err());
        assert!(carried(&table(Task::Dyck1), None).unwrap_err().to_string().contains("no address"));
    }
}

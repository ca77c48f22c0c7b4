//! The server: computes expressions with the public key.

use crate::node::{Node, Recorder, walk};
use crate::{Control, Estimate, Expression, Job, Result, ServerKey, runtime};
use solinas_circuits::program::Program;
use std::collections::HashSet;
use std::sync::Arc;

/// What a server may use. Defaults to all that the machine has.
pub use runtime::ServerOptions;

/// A server: an evaluation key made ready, and threads. It holds no secret. Cloning it is cheap, and clones share the threads.
#[derive(Debug, Clone)]
pub struct Server(Arc<runtime::Server>);

impl Server {
    /// Makes a key ready, on as many threads as the machine has.
    ///
    /// # Errors
    /// Too little memory, or threads that could not be started.
    pub fn new(key: &ServerKey) -> Result<Self> {
        Self::with(key, &ServerOptions::default())
    }

    /// As [`Self::new`], with limits on threads and memory.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with(key: &ServerKey, options: &ServerOptions) -> Result<Self> {
        Ok(Self(Arc::new(runtime::Server::with_options(&key.0, options)?)))
    }

    /// Computes values, arrays, or a tuple or list of them, in one batch: put into one call what belongs together.
    ///
    /// What was computed before is not computed again.
    ///
    /// # Errors
    /// Values of another key; arrays of different lengths; operations that the scheme does not have; more products in a row than the levels
    /// of the key allow.
    pub fn run<X: Expression>(&self, expression: X) -> Result<X::Output> {
        self.prepare(expression)?.run()
    }

    /// Plans a computation, to ask for its cost or to watch it.
    ///
    /// # Errors
    /// As [`Self::run`], for what is known before anything runs.
    pub fn prepare<X: Expression>(&self, expression: X) -> Result<Prepared<X>> {
        let mut roots = Vec::new();
        expression.roots(&mut roots);
        Ok(Prepared { server: self.clone(), expression, stages: stages(roots)? })
    }

    /// The parameter set of the key.
    #[must_use]
    pub fn params(&self) -> runtime::ParamsInfo {
        self.0.params()
    }

    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.threads()
    }
}

/// A computation that is planned and did not run.
#[must_use = "`run` or `start` it"]
pub struct Prepared<X> {
    server: Server,
    expression: X,
    stages: [Vec<Arc<Node>>; 2],
}

impl<X: Expression> Prepared<X> {
    /// Predicts bootstraps, depth and seconds. The first call for a key measures one operation of each kind.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn estimate(&self) -> Result<Estimate> {
        let [first, second] = &self.stages;
        let server = &self.server.0;
        let first_cost = match first.is_empty() {
            true => Estimate::default(),
            false => {
                let (program, inputs) = program(first)?;
                server.estimate_inputs(&program, &inputs)?
            }
        };
        if second.is_empty() {
            return Ok(first_cost);
        }
        let (program, inputs) = finish(Recorder::with_given(first), second)?;
        let lanes = inputs.iter().filter(|input| input.shape().is_some()).map(runtime::Ciphertext::len).max();
        let second_cost = server.estimate(&program, lanes.unwrap_or(1))?;
        Ok(Estimate {
            bootstraps: first_cost.bootstraps + second_cost.bootstraps,
            recrypts: first_cost.recrypts + second_cost.recrypts,
            products: first_cost.products + second_cost.products,
            rotations: first_cost.rotations + second_cost.rotations,
            depth: first_cost.depth + second_cost.depth,
            seconds: first_cost.seconds + second_cost.seconds,
            ..second_cost
        })
    }

    /// Computes it.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn run(self) -> Result<X::Output> {
        self.run_with(&Control::default())
    }

    /// As [`Self::run`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`Server::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run_with(self, control: &Control<'_>) -> Result<X::Output> {
        for stage in self.stages.iter().filter(|stage| !stage.is_empty()) {
            let (program, inputs) = program(stage)?;
            let results = self.server.0.run(&program, &inputs, control)?;
            for (root, result) in stage.iter().zip(results) {
                root.keep(result);
            }
        }
        self.expression.computed()
    }

    /// Starts it on a thread of its own.
    ///
    /// # Errors
    /// A thread that could not be started.
    pub fn start(self) -> Result<Job<X::Output>>
    where
        X: Send + 'static,
        X::Output: Send + 'static,
    {
        Job::start(move |control| self.run_with(control))
    }
}

/// The program of a stage, and its inputs.
fn program(roots: &[Arc<Node>]) -> Result<(Program, Vec<runtime::Ciphertext>)> {
    finish(Recorder::default(), roots)
}

fn finish(mut recorder: Recorder, roots: &[Arc<Node>]) -> Result<(Program, Vec<runtime::Ciphertext>)> {
    for (number, value) in recorder.add(roots)?.into_iter().enumerate() {
        recorder.builder.output(format!("y{}", number + 1), value);
    }
    Ok((recorder.builder.finish()?, recorder.inputs))
}

/// What is computed in one program, and then in a second one from what the first gave. Either may be empty.
///
/// A program that takes an array computes every operation for each element. So scalars that arrays need are computed before, once.
/// With values in slots one program does all: the runtime tells scalars from arrays there.
fn stages(roots: Vec<Arc<Node>>) -> Result<[Vec<Arc<Node>>; 2]> {
    let mut needed = Vec::new();
    let mut in_slots = false;
    walk(&roots, |node| {
        in_slots |= node.ty.modulus().is_some();
        if node.array {
            needed.extend(node.operands().iter().filter(|operand| !operand.array && operand.is_pending()).cloned());
        }
        Ok(())
    })?;
    let pending = roots.into_iter().filter(|root| root.result().is_none());
    if in_slots {
        return Ok([distinct(pending), Vec::new()]);
    }
    let (arrays, scalars): (Vec<_>, Vec<_>) = pending.partition(|root| root.array);
    Ok([distinct(needed.into_iter().chain(scalars)), distinct(arrays)])
}

/// Each node once.
fn distinct(nodes: impl IntoIterator<Item = Arc<Node>>) -> Vec<Arc<Node>> {
    let mut seen = HashSet::new();
    nodes.into_iter().filter(|node| seen.insert(Arc::as_ptr(node))).collect()
}

impl<X> std::fmt::Debug for Prepared<X> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("server", &self.server).finish_non_exhaustive()
    }
}

impl From<runtime::ServerKey> for ServerKey {
    fn from(key: runtime::ServerKey) -> Self {
        Self(key)
    }
}

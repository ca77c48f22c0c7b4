//! The server: computes expressions with the public key.

use crate::node::Node;
use crate::plan::Plan;
use crate::{Bits, Control, Encrypted, EncryptedArray, Error, Estimate, Expression, Result, ServerKey, runtime};
use runtime::ProgressParts;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

pub use runtime::{DeviceName, GpuInfo, GpuList, ServerOptions, gpus};

/// Work on a thread of its own: see [`Prepared::start`].
pub type Job<T> = runtime::Job<T, Error>;

/// A server: an evaluation key in memory, and threads. It holds no secret. Clones share the threads.
#[derive(Debug, Clone)]
pub struct Server(runtime::Server);

impl Server {
    /// Loads a key into memory, and starts as many threads as the machine has cores.
    ///
    /// # Errors
    /// There is too little memory, or the threads cannot be started.
    pub fn new(key: &ServerKey) -> Result<Self> {
        Self::with_options(key, &ServerOptions::default())
    }

    /// As [`Self::new`], with limits on threads and memory.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_options(key: &ServerKey, options: &ServerOptions) -> Result<Self> {
        Ok(Self(runtime::Server::with_options(&key.0, options)?))
    }

    /// Computes values, arrays, or a tuple or list of them.
    ///
    /// Independent operations run in parallel, so pass everything that can run together in one call. The parts that an
    /// expression shares with an earlier one are not computed again.
    ///
    /// # Errors
    /// Values belong to another key, arrays of different lengths meet in one operation, the scheme lacks an operation, or there are more products in a
    /// row than the key allows.
    pub fn run<X: Expression>(&self, expression: X) -> Result<X::Output> {
        self.prepare(expression)?.run()
    }

    /// Plans a computation. The plan predicts its cost, and runs it in the background.
    ///
    /// # Errors
    /// The errors of [`Self::run`] that are known before the computation starts.
    pub fn prepare<X: Expression>(&self, expression: X) -> Result<Prepared<X>> {
        let mut roots = Vec::new();
        expression.roots(&mut roots);
        for result in roots.iter().filter_map(|root| root.result()) {
            if result.key_id() != self.0.key_id() {
                let (got, want) = (result.key_id().short(), self.0.key_id().short());
                return Err(runtime::Error::KeyMismatch { what: "a value".into(), got, want }.into());
            }
        }
        Ok(Prepared { plan: Plan::new(&roots)?, server: self.clone(), expression, private_program: false })
    }

    /// Makes an encrypted random value from a public seed (TFHE): all its bits are uniform, and nobody knows them without the client key. The same seed,
    /// type and key give the same value, so take each seed once.
    ///
    /// ```
    /// let (client, server_key) = solinas::generate_keys()?;
    /// let server = solinas::Server::new(&server_key)?;
    /// let die = (server.random::<u16>("throw 1 of table 7")? % 6).cast::<u8>() + 1;
    /// let thrown = client.decrypt(server.run(die)?)?;
    /// assert!((1..=6).contains(&thrown));
    /// # Ok::<(), solinas::Error>(())
    /// ```
    ///
    /// # Errors
    /// The key is of another scheme, or the seed is empty.
    pub fn random<T: Bits>(&self, seed: impl AsRef<[u8]>) -> Result<Encrypted<T>> {
        Encrypted::from_ciphertext(self.0.random(T::ty(), None, seed.as_ref(), &Control::default())?)
    }

    /// As [`Self::random`], `len` values, which are independent. A shorter array of the same seed is the beginning of a longer one.
    ///
    /// # Errors
    /// As [`Self::random`]; there is too little memory.
    pub fn random_array<T: Bits>(&self, len: usize, seed: impl AsRef<[u8]>) -> Result<EncryptedArray<T>> {
        self.random_array_with(len, seed, &Control::default())
    }

    /// As [`Self::random_array`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`Self::random_array`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn random_array_with<T: Bits>(
        &self,
        len: usize,
        seed: impl AsRef<[u8]>,
        control: &Control<'_>,
    ) -> Result<EncryptedArray<T>> {
        EncryptedArray::from_ciphertext(self.0.random(T::ty(), Some(vec![len]), seed.as_ref(), control)?)
    }

    /// The parameter set of the key.
    #[must_use]
    pub fn params(&self) -> runtime::ParamsInfo {
        self.0.params()
    }

    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.threads()
    }

    /// The device that computes. `auto` has become the processor, or a GPU that computes what it is expected to end first.
    #[must_use]
    pub fn device(&self) -> &DeviceName {
        self.0.device()
    }

    /// The error of the GPU after which a server on `auto` computed on the processor. Results are those without the error.
    #[must_use]
    pub fn device_failure(&self) -> Option<&str> {
        self.0.device_failure()
    }
}

/// A computation that is planned and has not run.
#[must_use = "`run` or `start` it"]
pub struct Prepared<X> {
    server: Server,
    expression: X,
    plan: Plan,
    private_program: bool,
}

impl<X: Expression> Prepared<X> {
    /// Hides the program from the holder of the client key (TFHE): the results show their values, types and lengths, and nothing else about the
    /// operations and constants that made them. Each block of a result takes some more bootstraps, which [`Self::count`] includes.
    ///
    /// ```
    /// let (client, server_key) = solinas::generate_keys()?;
    /// let server = solinas::Server::new(&server_key)?;
    /// let income = client.encrypt(1375_u16)?;
    /// let granted = server.prepare(income.gt(1000))?.private_program().run()?;
    /// assert!(client.decrypt(granted)?);
    /// # Ok::<(), solinas::Error>(())
    /// ```
    pub fn private_program(self) -> Self {
        Self { private_program: true, ..self }
    }

    /// Counts bootstraps, products, rotations and depth, without seconds. A value that an earlier step of the computation gives counts as a fresh
    /// ciphertext.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn count(&self) -> Result<Estimate> {
        self.count_with(&Control::default())
    }

    /// As [`Self::count`], with cancellation.
    ///
    /// # Errors
    /// As [`Server::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn count_with(&self, control: &Control<'_>) -> Result<Estimate> {
        self.total(control, runtime::Prepared::count)
    }

    /// As [`Self::count`], with seconds. The first call for a key measures one operation of each kind.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn estimate(&self) -> Result<Estimate> {
        self.estimate_with(&Control::default())
    }

    /// As [`Self::estimate`], with cancellation.
    ///
    /// # Errors
    /// As [`Server::run`]; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn estimate_with(&self, control: &Control<'_>) -> Result<Estimate> {
        self.total(control, |prepared| prepared.estimate(control))
    }

    /// Computes the expression.
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
        let server = &self.server.0;
        if !self.private_program {
            self.plan.run(server, control)?;
            return self.expression.computed(&|result| Ok(result.clone()));
        }
        // A key whose results cannot hide the program is refused before the work.
        let parts = ProgressParts::new(control, 1 + self.hiding(control)?.len());
        parts.run(0, |control| self.plan.run(server, control))?;
        let done = Cell::new(0);
        self.expression.computed(&|result| {
            done.set(done.get() + 1);
            let hide = |control: &Control<'_>| {
                server.prepare_private(result.ty(), std::slice::from_ref(result), control)?.run(control)
            };
            parts.run(done.get(), hide)?.pop().ok_or_else(|| Error::internal("a result is missing"))
        })
    }

    /// The work that hides the program in each result, if it is to be hidden.
    fn hiding(&self, control: &Control<'_>) -> Result<Vec<runtime::Prepared>> {
        let mut roots = Vec::new();
        if self.private_program {
            self.expression.roots(&mut roots);
        }
        let one = |root: &Arc<Node>| {
            let fresh = runtime::Inputs::Fresh { instances: root.len.unwrap_or(1) };
            Ok(self.server.0.prepare_private(root.ty, fresh, control)?)
        };
        roots.iter().map(one).collect()
    }

    fn total(
        &self,
        control: &Control<'_>,
        cost: impl Fn(&runtime::Prepared) -> Result<Estimate, runtime::Error>,
    ) -> Result<Estimate> {
        let (server, hiding) = (&self.server.0, self.hiding(control)?);
        let steps = self.plan.total(server, control, &cost);
        server.total_cost(std::iter::once(steps).chain(hiding.iter().map(|prepared| Ok(cost(prepared)?))))
    }

    /// Starts the computation on a thread of its own.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(self) -> Result<Job<X::Output>>
    where
        X: Send + 'static,
        X::Output: Send + 'static,
    {
        Job::start(move |control| self.run_with(control))
    }
}

impl<X> fmt::Debug for Prepared<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("server", &self.server).finish_non_exhaustive()
    }
}

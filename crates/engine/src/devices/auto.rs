//! The device `auto`: a GPU beside the processor. Each run takes the one that is expected to end first.

use crate::engine::{
    Batch, Blockwise, Element, Engine, Facts, Operands, Part, Pausing, Pinning, PlanRequest, PlannedWork, PublicValues,
};
use crate::need::Need;
use crate::plans::{Cursor, KernelPlan, Position};
use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo};
use solinas_values::process::Pool;
use std::sync::{Arc, OnceLock};

/// Engines of one key on a GPU and on the processor. Both give the same results.
#[derive(Debug)]
pub(crate) struct Auto {
    device: Arc<dyn Engine>,
    host: Arc<dyn Engine>,
    pool: Arc<Pool>,
    /// The error of the device, which is not used any more.
    failure: OnceLock<String>,
}

impl Auto {
    pub(crate) fn new(device: Arc<dyn Engine>, host: Arc<dyn Engine>, pool: Arc<Pool>) -> Self {
        Self { device, host, pool, failure: OnceLock::new() }
    }

    /// The work of the device if there is one, with that of the processor.
    fn choice(
        self: Arc<Self>,
        device: Option<Box<dyn PlannedWork>>,
        host: Box<dyn PlannedWork>,
        threads: usize,
    ) -> Box<dyn PlannedWork> {
        match device {
            Some(device) => Box::new(Choice { auto: self, device, host, threads }),
            None => host,
        }
    }

    /// The result of the device. None if it failed, now or earlier, so that the processor does the work.
    fn try_device<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
        if self.failure.get().is_some() {
            return Ok(None);
        }
        match work() {
            Err(error) if allows_fallback(&error) => {
                // If several runs fail at once, the first one notes its error.
                let _ = self.failure.set(error.to_string());
                Ok(None)
            }
            result => result.map(Some),
        }
    }
}

impl Engine for Auto {
    fn key_id(&self) -> KeyId {
        self.host.key_id()
    }

    fn params(&self) -> ParamsInfo {
        self.host.params()
    }

    fn is_insecure(&self) -> bool {
        self.host.is_insecure()
    }

    fn empty(&self) -> Element {
        self.host.empty()
    }

    fn memory_bytes(&self) -> usize {
        self.host.memory_bytes()
    }

    fn plan_bytes(&self) -> usize {
        self.host.plan_bytes() + self.device.plan_bytes()
    }

    fn form(&self) -> Form {
        self.host.form()
    }

    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        let device = self.try_device(|| Arc::clone(&self.device).plan(request, control))?;
        let host = Arc::clone(&self.host).plan(request, control)?;
        Ok(self.choice(device, host, request.threads))
    }

    fn pinning(self: Arc<Self>) -> Option<Arc<dyn Pinning>> {
        let (device, host) = (Arc::clone(&self.device).pinning()?, Arc::clone(&self.host).pinning()?);
        Some(Arc::new(PinningAuto { auto: self, device, host }))
    }

    fn device_failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    fn public_values(&self) -> Option<&dyn PublicValues> {
        self.host.public_values()
    }

    fn blockwise(&self) -> Option<&dyn Blockwise> {
        self.host.blockwise()
    }

    fn weight(&self, operands: &Operands<'_>, control: &Control<'_>) -> Result<Option<u64>, Error> {
        self.host.weight(operands, control)
    }
}

/// A GPU and the processor, which compute by given plans.
struct PinningAuto {
    auto: Arc<Auto>,
    device: Arc<dyn Pinning>,
    host: Arc<dyn Pinning>,
}

impl Pinning for PinningAuto {
    fn pinned(self: Arc<Self>, plan: &KernelPlan, request: &PlanRequest<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        let device = self.auto.try_device(|| Arc::clone(&self.device).pinned(plan, request))?;
        let host = Arc::clone(&self.host).pinned(plan, request)?;
        Ok(Arc::clone(&self.auto).choice(device, host, request.threads))
    }
}

/// Whether the processor may do the work on which a device gave this error.
pub(crate) fn allows_fallback(error: &Error) -> bool {
    match error {
        Error::Device(error) => error.allows_fallback(),
        _ => false,
    }
}

/// The plans of a GPU and of the processor.
struct Choice {
    auto: Arc<Auto>,
    device: Box<dyn PlannedWork>,
    host: Box<dyn PlannedWork>,
    threads: usize,
}

impl Choice {
    /// The estimate of the device, if it is expected to end before the processor; and that of the processor.
    fn estimates(
        &self,
        instances: usize,
        threads: usize,
        pool: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<(Option<Estimate>, Estimate), Error> {
        let host = self.host.estimate(instances, threads, pool, control)?;
        let device = self.auto.try_device(|| self.device.estimate(instances, threads, pool, control))?;
        Ok((device.filter(|device| device.seconds < host.seconds), host))
    }

    /// Whether to run on the device. A scheme whose estimate takes long does so without one.
    fn prefers_device(&self, instances: usize, control: &Control<'_>) -> Result<bool, Error> {
        if self.auto.params().scheme.capabilities().slow_estimate {
            return Ok(true);
        }
        let (device, _) =
            self.estimates(instances, self.threads, self.auto.pool.get()?, &control.without_progress())?;
        Ok(device.is_some())
    }
}

impl PlannedWork for Choice {
    fn waves(&self) -> Vec<u64> {
        self.host.waves()
    }

    fn facts(&self, kernel: &solinas_circuits::steps::Kernel) -> Vec<Facts> {
        self.host.facts(kernel)
    }

    fn plan(&self) -> Result<Option<KernelPlan>, Error> {
        self.host.plan()
    }

    fn id(&self) -> Result<Option<KeyId>, Error> {
        self.host.id()
    }

    fn need(&self, instances: usize, threads: usize) -> Need {
        self.host.need(instances, threads)
    }

    fn count(&self, instances: usize) -> Result<Estimate, Error> {
        self.host.count(instances)
    }

    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        pool: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let (device, host) = self.estimates(instances, threads, pool, control)?;
        Ok(device.unwrap_or(host))
    }

    fn pausing(&self) -> Option<&dyn Pausing> {
        (self.device.pausing().is_some() && self.host.pausing().is_some()).then_some(self)
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        if self.prefers_device(batch.instances, control)?
            && let Some(results) = self.auto.try_device(|| self.device.run(batch, control))?
        {
            return Ok(results);
        }
        self.host.run(batch, control)
    }
}

impl Pausing for Choice {
    fn run_until(
        &self,
        batch: &Batch<'_>,
        from: Option<&Cursor>,
        pause: &dyn Fn(Position) -> bool,
        control: &Control<'_>,
    ) -> Result<Part, Error> {
        if self.prefers_device(batch.instances, control)?
            && let Some(device) = self.device.pausing()
            && let Some(ran) = self.auto.try_device(|| device.run_until(batch, from, pause, control))?
        {
            return Ok(ran);
        }
        let none = || Error::Internal("the plan of the processor cannot pause".into());
        self.host.pausing().ok_or_else(none)?.run_until(batch, from, pause, control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CostModel;
    use crate::planning::KernelSource;
    use solinas_schemes::{DeviceError, DeviceErrorKind, DeviceFault};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An engine whose runs take some seconds by its estimate, and give no results or an error.
    #[derive(Debug, Default)]
    struct Fake {
        seconds: f64,
        error: Option<DeviceError>,
        /// Whether the estimate fails too.
        lost: bool,
        runs: AtomicUsize,
    }

    impl Fake {
        fn result(&self) -> Result<(), Error> {
            self.error.clone().map_or(Ok(()), |error| Err(error.into()))
        }
    }

    impl Engine for Fake {
        fn key_id(&self) -> KeyId {
            KeyId([7; 32])
        }

        fn params(&self) -> ParamsInfo {
            crate::params().swap_remove(0)
        }

        fn is_insecure(&self) -> bool {
            true
        }

        fn empty(&self) -> Element {
            unreachable!("no run has arrays")
        }

        fn memory_bytes(&self) -> usize {
            0
        }

        fn form(&self) -> Form {
            Form::Bits
        }

        fn plan(self: Arc<Self>, _: &PlanRequest<'_>, _: &Control<'_>) -> Result<Box<dyn PlannedWork>, Error> {
            Ok(Box::new(FakePlan(self)))
        }
    }

    struct FakePlan(Arc<Fake>);

    impl PlannedWork for FakePlan {
        fn count(&self, _: usize) -> Result<Estimate, Error> {
            Ok(Estimate::default())
        }

        fn estimate(&self, _: usize, _: usize, _: &rayon::ThreadPool, _: &Control<'_>) -> Result<Estimate, Error> {
            if self.0.lost {
                self.0.result()?;
            }
            Ok(Estimate { seconds: self.0.seconds, ..Estimate::default() })
        }

        fn run(&self, _: &Batch<'_>, _: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
            self.0.runs.fetch_add(1, Ordering::Relaxed);
            self.0.result().map(|()| Vec::new())
        }
    }

    /// Runs twice. Returns the runs of the device and of the processor, and the error of the device.
    fn runs(device: Fake) -> Result<(usize, usize, Option<String>), Error> {
        let (device, host) = (Arc::new(device), Arc::new(Fake { seconds: 1.0, ..Fake::default() }));
        let pool = Arc::new(Pool::new(1)?);
        let engines = (Arc::clone(&device) as Arc<dyn Engine>, Arc::clone(&host) as Arc<dyn Engine>);
        let auto = Arc::new(Auto::new(engines.0, engines.1, pool));
        for _ in 0..2 {
            let source = Arc::new(KernelSource::Convert(Form::Bits));
            let request = PlanRequest {
                source: &source,
                inputs: None,
                weight: 1,
                instances: 1,
                threads: 1,
                model: CostModel::Fewest,
                hides: false,
            };
            let plan = Arc::clone(&auto).plan(&request, &Control::default())?;
            plan.run(&Batch { inputs: &[], instances: 1, shape: None, outputs: &[], room: 0 }, &Control::default())?;
        }
        let count = |fake: &Fake| fake.runs.load(Ordering::Relaxed);
        Ok((count(&device), count(&host), auto.device_failure().map(str::to_owned)))
    }

    /// An error of a device.
    #[derive(Debug, thiserror::Error)]
    #[error("a test: {0:?}")]
    struct Fault(DeviceErrorKind);

    impl DeviceFault for Fault {
        fn kind(&self) -> DeviceErrorKind {
            self.0
        }

        fn allows_fallback(&self) -> bool {
            self.0 == DeviceErrorKind::Failure
        }
    }

    fn lost() -> DeviceError {
        DeviceError::new(Fault(DeviceErrorKind::Failure))
    }

    #[test]
    fn the_faster_one_runs() {
        let device = |seconds| Fake { seconds, ..Fake::default() };
        assert!(matches!(runs(device(0.5)), Ok((2, 0, None))));
        assert!(matches!(runs(device(1.5)), Ok((0, 2, None))));
    }

    #[test]
    fn the_processor_repeats_what_a_lost_device_began() {
        let (device, host, failure) = runs(Fake { seconds: 0.5, error: Some(lost()), ..Fake::default() }).unwrap();
        assert_eq!((device, host), (1, 2), "the second run does not try the device");
        assert!(failure.unwrap().contains("Failure"));
        let (device, host, failure) =
            runs(Fake { seconds: 0.5, error: Some(lost()), lost: true, ..Fake::default() }).unwrap();
        assert_eq!((device, host), (0, 2), "the estimate found that the device is lost");
        assert!(failure.is_some());
    }

    #[test]
    fn a_fault_of_solinas_is_not_hidden() {
        let fault = DeviceError::new(Fault(DeviceErrorKind::Internal));
        let error = runs(Fake { seconds: 0.5, error: Some(fault.clone()), ..Fake::default() }).unwrap_err();
        assert!(matches!(error, Error::Device(found) if found == fault));
    }
}

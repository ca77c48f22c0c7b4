//! GPUs, and the emulated devices of the same kernels.

use super::{GpuInfo, GpuList};
use crate::Error;
use crate::device::Device;
use crate::gh::{Backend as GhBackend, KeyWithin as GhKey};
use crate::leveled::OnDevice;
use solinas_gpu::{Device as Gpu, DeviceOptions, Stream};
use solinas_schemes::bgv::{self, Bgv};
use solinas_schemes::gh::{self, Params, RecryptMethod};
use solinas_schemes::lwe::{self, Lwe};
use solinas_schemes::ntru::{self, Ntru};
use solinas_schemes::{DeviceName, Error as SchemeError, tfhe};
use std::any::Any;
use std::sync::Arc;

/// The GPUs of one name, at least one.
#[derive(Debug)]
pub(super) struct Gpus {
    name: DeviceName,
    gpus: Vec<Gpu>,
}

impl Gpus {
    /// Opens the GPUs of a name. `None` if `auto` finds none.
    pub(super) fn open(name: &DeviceName, memory: Option<u64>) -> Result<Option<Self>, Error> {
        let gpus = Gpu::open_all(name, DeviceOptions { memory, seed: 0 }).map_err(SchemeError::from)?;
        Ok((!gpus.is_empty()).then(|| Self { name: name.clone(), gpus }))
    }

    /// The only GPU, for a scheme that runs on one.
    ///
    /// # Errors
    /// [`Error::Request`] if there are more.
    fn one(&self, scheme: &str) -> Result<&Gpu, Error> {
        match self.gpus.as_slice() {
            [gpu] => Ok(gpu),
            gpus => Err(Error::Request {
                what: format!("scheme {scheme} runs on one device, but {} were named", gpus.len()),
                help: "name one, such as cuda:0".into(),
            }),
        }
    }

    fn stream(&self, scheme: &str) -> Result<Arc<Stream>, Error> {
        Ok(Arc::new(Stream::new(self.one(scheme)?).map_err(SchemeError::from)?))
    }
}

impl Device for Gpus {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn schemes(&self) -> &'static str {
        "tfhe, bgv, ntru, lwe and gh"
    }

    fn has_failed(&self) -> bool {
        self.gpus.iter().any(Gpu::has_failed)
    }

    fn part(&self, key: &dyn Any) -> Option<Result<Box<dyn Any>, Error>> {
        if let Some(evaluator) = key.downcast_ref::<tfhe::Evaluator>() {
            return boxed(self.tfhe(evaluator));
        }
        if let Some(key) = key.downcast_ref::<Arc<bgv::ServerKey>>() {
            return boxed(self.bgv(key));
        }
        if let Some(key) = key.downcast_ref::<Arc<ntru::ServerKey>>() {
            return boxed(self.ntru(key));
        }
        if let Some(key) = key.downcast_ref::<Arc<lwe::ServerKey>>() {
            return boxed(self.lwe(key));
        }
        let gh = key.downcast_ref::<GhKey>();
        gh.and_then(|_| boxed(self.one("gh").map(|gpu| Box::new(OfGpu(gpu.clone())) as Box<dyn GhBackend>)))
    }
}

fn boxed<P: 'static>(part: Result<P, Error>) -> Option<Result<Box<dyn Any>, Error>> {
    Some(part.map(|part| Box::new(part) as Box<dyn Any>))
}

impl Gpus {
    fn tfhe(&self, evaluator: &tfhe::Evaluator) -> Result<Box<dyn tfhe::Backend>, Error> {
        Ok(Box::new(solinas_gpu::tfhe::Engines::new(&self.gpus, evaluator).map_err(SchemeError::from)?))
    }

    fn bgv(&self, key: &Arc<bgv::ServerKey>) -> Result<Box<dyn OnDevice<Bgv>>, Error> {
        let engine =
            solinas_gpu::ring::bgv::Engine::new(&self.stream("bgv")?, Arc::clone(key)).map_err(SchemeError::from)?;
        Ok(Box::new(bgv::Evaluator::on(engine)))
    }

    fn ntru(&self, key: &Arc<ntru::ServerKey>) -> Result<Box<dyn OnDevice<Ntru>>, Error> {
        let engine =
            solinas_gpu::ring::ntru::Engine::new(&self.stream("ntru")?, Arc::clone(key)).map_err(SchemeError::from)?;
        Ok(Box::new(ntru::Evaluator::on(engine)))
    }

    /// The device computes the products of vectors with switching keys.
    fn lwe(&self, key: &Arc<lwe::ServerKey>) -> Result<Box<dyn OnDevice<Lwe>>, Error> {
        let engine = solinas_gpu::lwe::Engine::new(self.one("lwe")?).map_err(SchemeError::from)?;
        Ok(Box::new(lwe::Evaluator::shared(Arc::clone(key))?.with_backend(Arc::new(engine))))
    }
}

/// The tables of Recrypt on a GPU.
#[derive(Debug)]
struct OfGpu(Gpu);

impl GhBackend for OfGpu {
    fn memory(&self) -> u64 {
        self.0.memory_limit()
    }

    fn bytes(&self, params: &Params, method: RecryptMethod) -> Option<u64> {
        solinas_gpu::gh::bytes(params, method)
    }

    fn fastest(&self, params: &Params) -> Result<RecryptMethod, Error> {
        Ok(solinas_gpu::gh::fastest(&self.0, params).map_err(SchemeError::from)?)
    }

    fn evaluator(&self, key: &Arc<gh::ServerKey>, method: RecryptMethod) -> Result<gh::Evaluator<'static>, Error> {
        let engine = solinas_gpu::gh::Engine::new(&self.0, Arc::clone(key), method).map_err(SchemeError::from)?;
        Ok(gh::Evaluator::accelerated(Arc::clone(key), Arc::new(engine))?)
    }
}

pub(super) fn list() -> GpuList {
    let info = |gpu: solinas_gpu::Gpu| GpuInfo {
        name: DeviceName::cuda(gpu.number).to_string(),
        model: gpu.info.name,
        memory_bytes: gpu.info.memory,
        multiprocessors: gpu.info.multiprocessors,
        driver: gpu.info.driver,
        problem: gpu.problem.map(|problem| problem.to_string()),
    };
    match solinas_gpu::gpus() {
        Ok(gpus) => {
            let problem = gpus.is_empty().then(|| "the NVIDIA driver sees no GPU; take the device cpu".into());
            GpuList { gpus: gpus.into_iter().map(info).collect(), problem }
        }
        Err(error) => GpuList { gpus: Vec::new(), problem: Some(error.to_string()) },
    }
}

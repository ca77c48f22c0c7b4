//! The CUDA driver, through its library, which is opened at run time.
//!
//! The rest of the crate orders the operations of streams itself, so the bookkeeping of `cudarc` is off.

use crate::driver::{Argument, CopyId, Driver, Gpu, GraphId, HostBytes, KernelId, Launch, Operation, StreamId};
use crate::{DeviceInfo, Error, Module};
use cudarc::driver::sys::{
    self, CUdevice_attribute, CUfunction_attribute, CUgraphInstantiate_flags, CUresult, CUstreamCaptureMode,
};
use cudarc::driver::{CudaContext, CudaEvent, CudaGraph, CudaStream, DriverError, result};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The oldest CUDA version whose drivers accept PTX ISA 8.4.
const VERSION: u32 = 12_040;
/// The compute capability for which the PTX is compiled.
const CAPABILITY: (u32, u32) = (9, 0);
/// Bytes of the memory that buffers leave to modules and graphs.
const RESERVE: usize = 256 << 20;
/// Bytes from the host that may wait in a stream.
const WAITING: usize = 64 << 20;

/// The bytes of shared memory that a block may ask for.
const SHARED: CUdevice_attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;

/// Starts the driver. Returns its version and the number of GPUs.
///
/// # Errors
/// [`Error::NoDriver`], [`Error::OldDriver`], [`Error::Driver`].
fn start() -> Result<(u32, usize), Error> {
    // SAFETY: it only tries to open the library. All other calls panic if there is none.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    let failed = |error| failure("the CUDA driver", "its start", error);
    let count = match result::init() {
        // The driver is there, but no GPU.
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => 0,
        started => started.and_then(|()| result::device::get_count()).map_err(failed)?,
    };
    let have = version().map_err(failed)?;
    if have < VERSION {
        return Err(Error::OldDriver { have, need: VERSION });
    }
    Ok((have, usize::try_from(count).unwrap_or(0)))
}

/// The driver's name and version in [`DeviceInfo`].
fn driver_name(version: u32) -> String {
    format!("CUDA {}.{}", version / 1000, version % 1000 / 10)
}

/// Refuses a GPU that lacks instructions of the kernels.
fn check_capability(device: &str, have: (u32, u32)) -> Result<(), Error> {
    if have < CAPABILITY {
        return Err(Error::OldDevice { device: device.into(), have, need: CAPABILITY });
    }
    Ok(())
}

/// The GPUs of the machine. Opens none of them.
///
/// # Errors
/// As [`start`].
pub(crate) fn list() -> Result<Vec<Gpu>, Error> {
    let (version, count) = start()?;
    let gpu = |number: usize| {
        let device = result::device::get(number as i32)?;
        // SAFETY: the handle is that of a device of this machine.
        let attribute = |which| Ok(unsafe { result::device::get_attribute(device, which) }?.unsigned_abs());
        let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let multiprocessors = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let shared_bytes = attribute(SHARED)?;
        let name = result::device::get_name(device)?;
        let problem = check_capability(&name, (major, minor)).err();
        // SAFETY: as above.
        let memory = unsafe { result::device::total_mem(device) }? as u64;
        let driver = driver_name(version);
        let info = DeviceInfo { name, memory, multiprocessors, shared_bytes, driver, is_emulated: false };
        Ok(Gpu { number, info, capability: (major, minor), problem })
    };
    let named = |number| gpu(number).map_err(|error| failure(&format!("cuda:{number}"), "reading its facts", error));
    (0..count).map(named).collect()
}

/// Opens the GPU of this number.
///
/// # Errors
/// As [`start`]; [`Error::NoDevice`], [`Error::OldDevice`].
pub(crate) fn open(number: usize) -> Result<Box<dyn Driver>, Error> {
    let failed = |error| failure(&format!("cuda:{number}"), "the opening of the device", error);
    let (have, count) = start()?;
    if number >= count {
        return Err(Error::NoDevice { number, count });
    }
    let context = CudaContext::new(number).map_err(failed)?;
    // SAFETY: no `CudaSlice` is ever made, so there are no events to lose.
    unsafe { context.disable_event_tracking() };
    let device = context.name().map_err(failed)?;
    let (major, minor) = context.compute_capability().map_err(failed)?;
    check_capability(&device, (major.unsigned_abs(), minor.unsigned_abs()))?;
    let (free, _) = context.mem_get_info().map_err(failed)?;
    let multiprocessors = context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    let info = DeviceInfo {
        name: device,
        memory: free.saturating_sub(RESERVE) as u64,
        multiprocessors: multiprocessors.map_err(failed)?.unsigned_abs(),
        shared_bytes: context.attribute(SHARED).map_err(failed)?.unsigned_abs(),
        driver: driver_name(have),
        is_emulated: false,
    };
    let state = State {
        graphs: BTreeMap::new(),
        next_graph: 0,
        modules: Vec::new(),
        kernels: Vec::new(),
        streams: Vec::new(),
        capture: context.new_stream().map_err(failed)?,
        context,
        failed: None,
    };
    Ok(Box::new(Cuda { info, state: Mutex::new(state) }))
}

/// 1000 times the major version plus 10 times the minor version of the driver.
fn version() -> Result<u32, DriverError> {
    let mut version = 0;
    // SAFETY: the pointer is that of a local variable.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(version.unsigned_abs())
}

fn failure(device: &str, call: &str, error: DriverError) -> Error {
    Error::Driver { device: device.into(), call: call.into(), problem: error.to_string() }
}

/// A GPU.
struct Cuda {
    info: DeviceInfo,
    state: Mutex<State>,
}

/// Handles of the driver. Fields drop in order, so the context goes last.
struct State {
    graphs: BTreeMap<GraphId, CudaGraph>,
    next_graph: GraphId,
    /// Modules by their text.
    modules: Vec<(&'static str, sys::CUmodule)>,
    /// Kernels by the text of their module and their name.
    kernels: Vec<(&'static str, String, sys::CUfunction)>,
    streams: Vec<Queue>,
    /// The stream on which graphs are recorded. It runs nothing.
    capture: Arc<CudaStream>,
    context: Arc<CudaContext>,
    /// The first error.
    failed: Option<Error>,
}

// SAFETY: handles of the driver belong to a context and not to a thread. Each call binds its thread to the context, and
// the mutex around the state serializes the calls.
unsafe impl Send for State {}

/// A stream.
struct Queue {
    stream: Arc<CudaStream>,
    /// Bytes that the device may not have copied yet.
    sources: Vec<Vec<u8>>,
    /// Number of these bytes.
    waiting: usize,
    /// Copies from page-locked memory that the device may not have done yet, with the events after them.
    copies: VecDeque<(CopyId, Arc<CudaEvent>, Arc<dyn HostBytes>)>,
    /// Number of the next copy from page-locked memory.
    next_copy: CopyId,
}

/// Page-locked memory of the host.
#[derive(Debug)]
struct PageLocked {
    address: *mut u8,
    bytes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: the bytes belong to this value alone. The driver only reads them, while it holds a reference.
unsafe impl Send for PageLocked {}
// SAFETY: a shared reference gives no more than reads of the bytes.
unsafe impl Sync for PageLocked {}

impl HostBytes for PageLocked {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has this number of bytes, all of them written, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.address, self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above. No copy of the device reads them, since it would hold a second reference to `self`.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.bytes) }
    }
}

impl Drop for PageLocked {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the address is that of the allocation. All copies from it are done, since they hold `self`.
            let _ = unsafe { result::free_host(self.address.cast()) };
        }
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Cuda {
    /// Calls the driver on the state, unless an earlier call has failed. An error is kept, since later calls would have
    /// wrong results. Only a lack of memory leaves the device as it was.
    fn call<T>(&self, what: &str, call: impl FnOnce(&mut State) -> Result<T, DriverError>) -> Result<T, Error> {
        let mut state: MutexGuard<'_, State> = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let result = state.context.bind_to_thread().and_then(|()| call(&mut state));
        result.map_err(|error| {
            let lacks_memory = error == DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
            let error = failure(&self.info.name, what, error);
            if !lacks_memory {
                state.failed = Some(error.clone());
            }
            error
        })
    }

    /// Gives something back to the driver, even if an earlier call has failed.
    fn give_back(&self, what: &str, call: impl FnOnce(&mut State) -> Result<(), DriverError>) -> Result<(), Error> {
        let mut state: MutexGuard<'_, State> = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = state.context.bind_to_thread().and_then(|()| call(&mut state));
        result.map_err(|error| failure(&self.info.name, what, error))
    }
}

impl Driver for Cuda {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn has_failed(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failed.is_some()
    }

    fn allocate(&self, bytes: u64) -> Result<Option<u64>, Error> {
        self.call("an allocation", |_| {
            // SAFETY: the call has no requirement but a bound context. Nothing reads the bytes before they are written.
            match unsafe { result::malloc_sync(bytes as usize) } {
                Ok(address) => Ok(Some(address)),
                Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn free(&self, address: u64) -> Result<(), Error> {
        // SAFETY: the pool frees an address of `allocate` once, after all operations of all streams.
        self.give_back("freeing memory", |_| unsafe { result::free_sync(address) })
    }

    fn kernel(&self, module: &'static Module, name: &str) -> Result<KernelId, Error> {
        let text = CString::new(module.text());
        let text = text.map_err(|_| Error::Fault(format!("the PTX of {} contains a zero byte", module.name())))?;
        let symbol = CString::new(name).map_err(|_| Error::Fault("a kernel has a zero byte in its name".into()))?;
        self.call(&format!("loading kernel {name} of {}", module.name()), |state| {
            let same = |text: &str| std::ptr::eq(text, module.text());
            let known = state.kernels.iter().position(|(of, known, _)| same(of) && known == name);
            if let Some(kernel) = known {
                return Ok(kernel);
            }
            let loaded = state.modules.iter().find(|(known, _)| same(known)).map(|&(_, handle)| handle);
            let handle = match loaded {
                Some(handle) => handle,
                None => {
                    // SAFETY: the image is text that ends with a zero byte. The driver copies it.
                    let handle = unsafe { result::module::load_data(text.as_ptr().cast()) }?;
                    state.modules.push((module.text(), handle));
                    handle
                }
            };
            // SAFETY: the module was loaded above and is unloaded with the state alone.
            let function = unsafe { result::module::get_function(handle, symbol) }?;
            let fixed = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
            // SAFETY: the function is loaded.
            let fixed = unsafe { result::function::get_function_attribute(function, fixed) }?;
            let most = state.context.attribute(SHARED)? - fixed;
            let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is loaded. The call only allows launches with more than 48 KiB.
            unsafe { result::function::set_function_attribute(function, dynamic, most) }?;
            state.kernels.push((module.text(), name.into(), function));
            Ok(state.kernels.len() - 1)
        })
    }

    fn open_stream(&self) -> Result<(), Error> {
        self.call("opening a stream", |state| {
            let stream = state.context.new_stream()?;
            state.streams.push(Queue {
                stream,
                sources: Vec::new(),
                waiting: 0,
                copies: VecDeque::new(),
                next_copy: 0,
            });
            Ok(())
        })
    }

    fn submit(&self, stream: StreamId, operation: Operation) -> Result<(), Error> {
        self.call(name(&operation), |state| {
            let queue = state.streams[stream].stream.cu_stream();
            match operation {
                Operation::Write { to, bytes } => state.streams[stream].write(to, bytes),
                // SAFETY: the bytes are a buffer's, and the streams are ordered so that none else uses them.
                Operation::Fill { to, bytes, value } => unsafe {
                    result::memset_d8_async(to, value, bytes as usize, queue)
                },
                // SAFETY: as above; both are buffers of at least this number of bytes.
                Operation::Copy { from, to, bytes } => unsafe {
                    result::memcpy_dtod_async(to, from, bytes as usize, queue)
                },
                Operation::Forget { .. } => Ok(()),
                Operation::Launch(launch) => state.launch(&launch, queue),
                Operation::Replay(graph) => match state.graphs.get(&graph) {
                    // SAFETY: the graph exists, and its buffers live as long as the `Graph` that the caller holds.
                    Some(graph) => unsafe { result::graph::launch(graph.cu_graph_exec(), queue) },
                    None => Err(DriverError(CUresult::CUDA_ERROR_INVALID_HANDLE)),
                },
            }
        })
    }

    fn host_bytes(&self, bytes: usize) -> Result<Option<Arc<dyn HostBytes>>, Error> {
        self.call("an allocation of page-locked memory", |state| {
            // SAFETY: the call has no requirement but a bound context.
            let address = match unsafe { result::malloc_host(bytes.max(1), 0) } {
                Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => return Ok(None),
                address => address?.cast::<u8>(),
            };
            // SAFETY: the allocation has this number of bytes, and nothing else refers to them yet.
            unsafe { address.write_bytes(0, bytes) };
            let locked: Arc<dyn HostBytes> =
                Arc::new(PageLocked { address, bytes, context: Arc::clone(&state.context) });
            Ok(Some(locked))
        })
    }

    fn copy_host_bytes(
        &self,
        stream: StreamId,
        from: &Arc<dyn HostBytes>,
        to: u64,
        bytes: usize,
    ) -> Result<CopyId, Error> {
        self.call("a copy from page-locked memory", |state| {
            let queue = &mut state.streams[stream];
            while queue.copies.front().is_some_and(|(_, event, _)| event.is_complete()) {
                queue.copies.pop_front();
            }
            // SAFETY: the bytes go to a buffer of at least their number. `copies` keeps them until the stream has
            // copied them, and they cannot be written in the meantime.
            unsafe { result::memcpy_htod_async(to, &from.bytes()[..bytes], queue.stream.cu_stream()) }?;
            let event = Arc::new(queue.stream.record_event(None)?);
            let copy = queue.next_copy;
            queue.next_copy += 1;
            queue.copies.push_back((copy, event, Arc::clone(from)));
            Ok(copy)
        })
    }

    fn wait_for_copy(&self, stream: StreamId, copy: CopyId) -> Result<(), Error> {
        const WHAT: &str = "a copy from page-locked memory";
        let event = self.call(WHAT, |state| {
            let of_copy = |(id, event, _): &(CopyId, Arc<CudaEvent>, _)| (*id == copy).then(|| Arc::clone(event));
            Ok(state.streams[stream].copies.iter().find_map(of_copy))
        })?;
        // Other threads may use the device in the meantime.
        let done = event.map_or(Ok(()), |event| event.synchronize());
        self.call(WHAT, |state| {
            done?;
            state.streams[stream].copies.retain(|(id, ..)| *id > copy);
            Ok(())
        })
    }

    fn wait(&self, stream: StreamId, other: StreamId) -> Result<(), Error> {
        self.call("waiting for a stream", |state| {
            let (stream, other) = (&state.streams[stream].stream, &state.streams[other].stream);
            stream.join(other)
        })
    }

    fn synchronize(&self, stream: StreamId) -> Result<(), Error> {
        let (stream, sources) = self.call("a kernel", |state| {
            let queue = &mut state.streams[stream];
            queue.waiting = 0;
            Ok((Arc::clone(&queue.stream), std::mem::take(&mut queue.sources)))
        })?;
        // Other threads may use other streams in the meantime.
        let done = stream.synchronize();
        drop(sources);
        self.call("a kernel", |_| done)
    }

    fn read(&self, stream: StreamId, from: u64, out: &mut [u8]) -> Result<(), Error> {
        let queue = self.call("a copy to the host", |state| Ok(Arc::clone(&state.streams[stream].stream)))?;
        // The lock is free again: the copy waits for the stream, and other threads may use other streams meanwhile.
        // SAFETY: the bytes are a buffer's. The call returns after the copy, since `out` is not page-locked.
        let copied = unsafe { result::memcpy_dtoh_async(out, from, queue.cu_stream()) };
        self.call("a copy to the host", |_| copied)?;
        self.synchronize(stream)
    }

    fn record(&self, launches: Vec<Launch>) -> Result<GraphId, Error> {
        self.call("recording a graph", |state| {
            let capture = Arc::clone(&state.capture);
            capture.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
            let launched = launches.iter().try_for_each(|launch| state.launch(launch, capture.cu_stream()));
            // The capture ends whether or not the launches are right.
            let graph = capture.end_capture(CUgraphInstantiate_flags(0))?;
            launched?;
            let id = state.next_graph;
            state.next_graph += 1;
            state.graphs.insert(id, graph.ok_or(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE))?);
            Ok(id)
        })
    }

    fn drop_graph(&self, graph: GraphId) {
        // No caller is left to report an error to. The driver frees a running graph when the graph ends.
        let _ = self.give_back("dropping a graph", |state| {
            state.graphs.remove(&graph);
            Ok(())
        });
    }
}

/// The name of an operation in errors.
fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::Write { .. } => "a copy from the host",
        Operation::Fill { .. } => "a fill",
        Operation::Copy { .. } => "a copy",
        Operation::Forget { .. } => "a new buffer",
        Operation::Launch(_) => "the launch of a kernel",
        Operation::Replay(_) => "the launch of a graph",
    }
}

impl State {
    fn launch(&self, launch: &Launch, queue: sys::CUstream) -> Result<(), DriverError> {
        let (_, _, function) = self.kernels[launch.kernel];
        let (mut words, mut addresses) = (Vec::new(), Vec::new());
        for argument in &launch.arguments {
            // A little-endian host: the low half of a word comes first, so both sizes are read from the same place.
            words.push(match *argument {
                Argument::Word32(word) => u64::from(word),
                Argument::Word64(word) => word,
            });
        }
        addresses.extend(words.iter_mut().map(|word| (&raw mut *word).cast::<c_void>()));
        let [x, y, z] = launch.grid;
        // SAFETY: `Launch::request` compared number and sizes of the arguments with the kernel's parameters, and the
        // number of threads with its limit. The driver copies the arguments before it returns. The kernels stay within
        // their buffers: the emulated device checks this in tests.
        unsafe {
            result::launch_kernel(function, (x, y, z), (launch.block, 1, 1), launch.shared, queue, &mut addresses)
        }
    }
}

impl Queue {
    fn write(&mut self, to: u64, bytes: Vec<u8>) -> Result<(), DriverError> {
        if self.waiting + bytes.len() > WAITING {
            self.synchronize()?;
        }
        // SAFETY: the bytes go to a buffer of at least their number. `sources` keeps them until the stream has copied
        // them; their heap memory does not move with the vector.
        let copied = unsafe { result::memcpy_htod_async(to, &bytes, self.stream.cu_stream()) };
        self.waiting += bytes.len();
        self.sources.push(bytes);
        copied
    }

    fn synchronize(&mut self) -> Result<(), DriverError> {
        self.stream.synchronize()?;
        self.sources.clear();
        self.waiting = 0;
        Ok(())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // The device object is gone, so no caller is left to report an error to. The rest stays loaded until the
        // process ends.
        if self.context.bind_to_thread().and_then(|()| self.context.synchronize()).is_ok() {
            self.graphs.clear();
            for (_, module) in self.modules.drain(..) {
                // SAFETY: the module is loaded, all of its kernels have ended, and no graph refers to them.
                let _ = unsafe { result::module::unload(module) };
            }
        }
    }
}

//! A built model and its instances. All unsafe code of the crate is here.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::sync::Arc;

#[cfg(any(unix, windows))]
use libloading::{Error as LoadError, Library};

use crate::build::{BuildStage, library};
#[cfg(not(any(unix, windows)))]
use crate::no_loading::{Error as LoadError, Library};
use crate::{Design, Error};

/// A design that was compiled to native code.
#[derive(Debug, Clone)]
pub struct Model {
    library: Arc<Library>,
    top: Arc<str>,
}

/// A port of an instance. It belongs to the instance that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port(usize);

/// An entry of the library's table of ports, as wrapper.cpp declares it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Entry {
    name: *const c_char,
    data: *mut u8,
    bits: u32,
    is_input: u32,
}

/// One simulated circuit with its registers and memories.
#[derive(Debug)]
pub struct Instance {
    model: Model,
    handle: *mut c_void,
    ports: Vec<Entry>,
    eval: unsafe extern "C" fn(*mut c_void),
    tick: unsafe extern "C" fn(*mut c_void),
    cycles: u64,
}

// SAFETY: an instance owns its handle and all memory behind it, and the model's code has no state of its own.
unsafe impl Send for Instance {}

impl Model {
    /// Loads the model of a design. Builds it first unless it was built before, and calls `progress` at each stage.
    ///
    /// # Errors
    /// [`Error::Tool`], [`Error::Build`], [`Error::File`], [`Error::Load`].
    pub fn build(design: &Design, progress: &mut dyn FnMut(BuildStage)) -> Result<Self, Error> {
        let (path, key) = library(design, progress)?;
        // SAFETY: the library was built by this crate. Its initializers are those of C++'s standard library.
        let library = unsafe { Library::new(&path) }.map_err(|error| load(&path, &error))?;
        let model = Self { library: Arc::new(library), top: design.top().into() };
        // A library that lacks a function is not one of ours.
        for name in [
            "solinas_key",
            "solinas_new",
            "solinas_free",
            "solinas_eval",
            "solinas_tick",
            "solinas_trace",
            "solinas_ports",
        ] {
            // SAFETY: the symbol is only looked up.
            unsafe { model.library.get::<unsafe extern "C" fn()>(name) }.map_err(|error| load(&path, &error))?;
        }
        let own: unsafe extern "C" fn() -> *const c_char = model.function("solinas_key")?;
        // SAFETY: wrapper.cpp declares the function with this type. It returns a constant that ends with a zero byte.
        let own = unsafe { CStr::from_ptr(own()) };
        if own.to_bytes() != key.as_bytes() {
            return Err(Error::Load { path, problem: "it was built from other sources or by other tools".into() });
        }
        Ok(model)
    }

    /// The name of the top module.
    pub fn top(&self) -> &str {
        &self.top
    }

    /// A new instance. All its inputs are 0.
    ///
    /// # Errors
    /// [`Error::Load`].
    pub fn instance(&self) -> Result<Instance, Error> {
        type Ports = unsafe extern "C" fn(*mut c_void, *mut Entry, u32) -> u32;
        let new: unsafe extern "C" fn() -> *mut c_void = self.function("solinas_new")?;
        let eval = self.function("solinas_eval")?;
        let tick = self.function("solinas_tick")?;
        let table: Ports = self.function("solinas_ports")?;
        // SAFETY: wrapper.cpp declares the functions with these types. The first call of `table` has no room and writes
        // nothing; the second one has room for all ports.
        let (handle, ports) = unsafe {
            let handle = new();
            let count = table(handle, std::ptr::null_mut(), 0);
            let empty = Entry { name: c"".as_ptr(), data: std::ptr::null_mut(), bits: 0, is_input: 0 };
            let mut ports = vec![empty; count as usize];
            table(handle, ports.as_mut_ptr(), count);
            (handle, ports)
        };
        let mut instance = Instance { model: self.clone(), handle, ports, eval, tick, cycles: 0 };
        instance.eval();
        Ok(instance)
    }

    /// A function of the library. `F` is its type in wrapper.cpp.
    fn function<F: Copy>(&self, name: &str) -> Result<F, Error> {
        // SAFETY: the callers name the functions with the types that wrapper.cpp declares.
        let symbol = unsafe { self.library.get::<F>(name) };
        symbol.map(|symbol| *symbol).map_err(|error| load(Path::new(self.top()), &error))
    }
}

fn load(path: &Path, error: &LoadError) -> Error {
    Error::Load { path: path.into(), problem: error.to_string() }
}

impl Instance {
    /// Looks a port up.
    ///
    /// # Errors
    /// [`Error::NoPort`] lists the ports.
    pub fn port(&self, name: &str) -> Result<Port, Error> {
        let names: Vec<&str> = self.ports.iter().map(name_of).collect();
        let found = names.iter().position(|other| *other == name);
        found.map(Port).ok_or_else(|| Error::NoPort {
            top: self.model.top().into(),
            name: name.into(),
            ports: names.join(", "),
        })
    }

    /// Bits of a port.
    pub fn bits(&self, port: Port) -> usize {
        self.ports[port.0].bits as usize
    }

    /// Sets an input from little-endian words. Missing words are 0, and bits above the port's are left out.
    pub fn set(&mut self, port: Port, words: &[u64]) {
        let entry = self.ports[port.0];
        assert_eq!(entry.is_input, 1, "an input is set");
        for (i, len) in places(entry.bits) {
            let rest = entry.bits as usize - 64 * i;
            let mask = if rest < 64 { (1 << rest) - 1 } else { u64::MAX };
            let bytes = (words.get(i).copied().unwrap_or(0) & mask).to_le_bytes();
            // SAFETY: Verilator stores a port of these bits in 1, 2, 4 or 8 bytes, or in words of 4 bytes if it has more
            // than 64 bits. `places` returns the bytes of each part.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), entry.data.add(8 * i), len) };
        }
    }

    /// Sets an input of at most 64 bits.
    pub fn set_u64(&mut self, port: Port, value: u64) {
        self.set(port, &[value]);
    }

    /// Reads a port into little-endian words. Words above the port's are 0.
    pub fn get(&self, port: Port, words: &mut [u64]) {
        let entry = self.ports[port.0];
        words.fill(0);
        for ((i, len), word) in places(entry.bits).zip(words) {
            let mut bytes = [0; 8];
            // SAFETY: as in `set`.
            unsafe { std::ptr::copy_nonoverlapping(entry.data.add(8 * i), bytes.as_mut_ptr(), len) };
            *word = u64::from_le_bytes(bytes);
        }
    }

    /// Reads the lowest 64 bits of a port.
    pub fn get_u64(&self, port: Port) -> u64 {
        let mut word = [0];
        self.get(port, &mut word);
        word[0]
    }

    /// Settles the outputs for the present inputs.
    pub fn eval(&mut self) {
        // SAFETY: the handle is that of a living model.
        unsafe { (self.eval)(self.handle) };
    }

    /// One cycle of the clock `clk_i`. The outputs then follow the registers' new values.
    pub fn tick(&mut self) {
        // SAFETY: as in `eval`.
        unsafe { (self.tick)(self.handle) };
        self.cycles += 1;
    }

    /// Number of cycles since the instance was made.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Holds the reset `rst_ni` for two cycles, if the design has one.
    pub fn reset(&mut self) {
        let Ok(reset) = self.port("rst_ni") else { return };
        for level in [0, 0, 1] {
            self.set_u64(reset, level);
            self.eval();
            self.tick();
        }
    }

    /// Writes a waveform (VCD) from now on, if the design was [traced](Design::traced).
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be written or the model cannot trace.
    pub fn trace(&mut self, path: &Path) -> Result<(), Error> {
        let trace: unsafe extern "C" fn(*mut c_void, *const c_char) -> i32 = self.model.function("solinas_trace")?;
        let name = CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
        // SAFETY: the handle is that of a living model, and the name ends with a zero byte.
        if unsafe { trace(self.handle, name.as_ptr()) } == 1 {
            return Ok(());
        }
        Err(Error::File { path: path.into(), source: std::io::Error::other("no waveform can be written") })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Ok(free) = self.model.function::<unsafe extern "C" fn(*mut c_void)>("solinas_free") {
            // SAFETY: the handle is not used again.
            unsafe { free(self.handle) };
        }
    }
}

fn name_of(entry: &Entry) -> &str {
    // SAFETY: the names are constants of the library, which outlives the instance.
    unsafe { CStr::from_ptr(entry.name) }.to_str().unwrap_or_default()
}

/// The parts of a port of a given number of bits: the index of a 64-bit word, and the bytes in which Verilator stores it.
fn places(bits: u32) -> impl Iterator<Item = (usize, usize)> {
    let bytes = match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => 4 * bits.div_ceil(32) as usize,
    };
    (0..bytes.div_ceil(8)).map(move |i| (i, (bytes - 8 * i).min(8)))
}

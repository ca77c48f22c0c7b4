//! Programs on arrays as steps: a step runs a kernel, a program of single values or a circuit, on many lanes. This module has no cryptography.
//!
//! [`split()`] turns a program on inputs of known shapes into [`Steps`]. Operations that move elements cost nothing: they are [layouts](Layouts), by which a step
//! reads its inputs. A reduction is several steps. Integers modulo a number share ciphertexts, so a step computes whole arrays of them.
//!
//! [`Machine`] says which lanes of which step to compute next, and takes the results. It keeps only elements that are still needed.

mod constants;
mod layout;
mod machine;
mod place;
mod plain;
pub mod reduce;
mod split;

pub use layout::{LayoutId, Layouts, SlotId};
pub use machine::{Batch, Cursor, Element, Machine, Progress};
pub use plain::Value;
pub use split::split;

use crate::program::{Program, Shape, Type, ValueType};
use crate::{Error, Netlist, Plain};
use std::sync::Arc;

/// Independent operations of one level on fewer lanes than this are one step, so that few of them do not keep processors idle.
pub const THIN: usize = 64;

/// One of the kernels of [`Steps`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelId(pub u32);

/// What a step computes on each of its lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kernel {
    /// A program of single values.
    Program(Program),
    /// A program on whole arrays of one length of integers modulo a number, and on scalars. Such a step has one lane.
    Packed(Program),
    /// A circuit, with a port for each value.
    Circuit {
        /// The circuit.
        netlist: Netlist,
        /// Whether an engine may simplify it.
        optimize: bool,
    },
}

/// What a step reads at an input of its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Port {
    /// For each lane, the element at that place of a layout.
    Lanes(LayoutId),
    /// The whole value in a slot.
    Whole(SlotId),
}

/// What fills a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The input of the program with this index.
    Input(usize),
    /// The public value of [`Steps::public`] with this index.
    Public(usize),
    /// A result of the step with this index.
    Step(usize),
}

/// A kernel on lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Length of the longest chain of steps before it.
    pub level: u32,
    /// Its kernel.
    pub kernel: KernelId,
    /// For each input of the kernel, what it reads.
    pub ports: Vec<Port>,
    /// Number of lanes.
    pub lanes: usize,
    /// For each output of the kernel, the slot of its results. Lane `i` computes element `i`.
    pub out: Vec<SlotId>,
}

/// An output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its type and shape.
    pub ty: ValueType,
    /// Where its elements are.
    pub port: Port,
}

/// The steps of a program on inputs of known shapes. A step reads inputs, public values and results of steps before it.
#[derive(Debug, Clone)]
pub struct Steps {
    /// The types and shapes of the inputs.
    pub inputs: Vec<ValueType>,
    /// Public arrays and values.
    pub public: Vec<Plain>,
    /// The kernels, each once.
    pub kernels: Vec<Kernel>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The outputs, in the order of the program.
    pub outputs: Vec<Output>,
    /// What fills each slot.
    pub slots: Vec<Source>,
    /// The layouts of ports.
    pub layouts: Layouts,
}

impl Steps {
    /// The kernel of a step.
    #[must_use]
    pub fn kernel(&self, step: &Step) -> &Kernel {
        &self.kernels[step.kernel.0 as usize]
    }

    /// What fills a slot.
    #[must_use]
    pub fn source(&self, slot: SlotId) -> Source {
        self.slots[slot.0 as usize]
    }

    /// The slots that a port reads.
    #[must_use]
    pub fn slots_of(&self, port: Port) -> Vec<SlotId> {
        match port {
            Port::Lanes(layout) => self.layouts.slots(layout),
            Port::Whole(slot) => vec![slot],
        }
    }

    /// The types and shapes of the values in the slots. The results of the lanes of a step are an array of one dimension.
    ///
    /// # Errors
    /// None for steps that [`split()`] made.
    pub fn slot_types(&self) -> Result<Vec<ValueType>, Error> {
        let given = |source: &Source| match *source {
            Source::Input(input) => self.inputs[input].clone(),
            Source::Public(plain) => self.public[plain].value_type(),
            Source::Step(_) => ValueType { ty: Type::Bool, shape: Shape::scalar() },
        };
        let mut types: Vec<ValueType> = self.slots.iter().map(given).collect();
        for step in &self.steps {
            let results = match self.kernel(step) {
                Kernel::Packed(program) => {
                    let shape = |port: &Port| match port {
                        Port::Whole(slot) => flat(&types[slot.0 as usize].shape),
                        Port::Lanes(_) => Shape::scalar(),
                    };
                    let shapes: Vec<Shape> = step.ports.iter().map(shape).collect();
                    Arc::new(program.clone()).at(&shapes)?.outputs()
                }
                kernel => {
                    let shape = Shape::new([step.lanes])?;
                    kernel.result_types().into_iter().map(|ty| ValueType { ty, shape: shape.clone() }).collect()
                }
            };
            step.out.iter().zip(results).for_each(|(slot, ty)| types[slot.0 as usize] = ty);
        }
        Ok(types)
    }
}

impl Kernel {
    /// The types of the operands of a lane.
    #[must_use]
    pub fn input_types(&self) -> Vec<Type> {
        match self {
            Self::Program(program) | Self::Packed(program) => program.input_types(),
            Self::Circuit { netlist, .. } => netlist.inputs().iter().map(crate::Port::element_type).collect(),
        }
    }

    /// The types of the results of a lane.
    #[must_use]
    pub fn result_types(&self) -> Vec<Type> {
        match self {
            Self::Program(program) | Self::Packed(program) => program.output_types(),
            Self::Circuit { netlist, .. } => netlist.outputs().iter().map(crate::Port::element_type).collect(),
        }
    }
}

/// The shape of a value in a packed kernel: a scalar, or all elements in a row.
fn flat(shape: &Shape) -> Shape {
    if shape.is_empty() { Shape::scalar() } else { Shape::line(shape) }
}

//! Public values in steps. Lanes that read equal public values are a step of their own, whose kernel has these values as constants.

use super::{Kernel, KernelId, Port, SlotId, Source, Step, Steps, THIN};
use crate::program::{Input, Node, Op, Output, Program, Shape, Type, ValueId};
use crate::{Error, MAX_NODES, Natural, Plain};
use std::collections::HashMap;

/// The public values that a lane reads; `None` at ports that read other elements.
type Values = Vec<Option<Natural>>;

/// A combination of public values, and the lanes that read it.
struct Class {
    values: Values,
    lanes: Vec<usize>,
}

impl Steps {
    /// Puts public values into kernels as constants. Lanes with equal public values are a step. Where these are few ([`THIN`]), the operations of all such lanes
    /// are one kernel of a single lane, so that processors have work; if they are more than `most` lanes in a step, they read the public values.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a kernel with too many operations.
    pub fn with_constants(mut self, most: usize) -> Result<Self, Error> {
        let mut known = HashMap::new();
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in std::mem::take(&mut self.steps) {
            match self.classes(&step) {
                Some(classes) => self.divide(step, classes, most, &mut known, &mut steps)?,
                None => steps.push(step),
            }
        }
        for (index, step) in steps.iter().enumerate() {
            step.out.iter().for_each(|slot| self.slots[slot.0 as usize] = Source::Step(index));
        }
        self.steps = steps;
        Ok(self)
    }

    /// The lanes of each combination of public values, in the order of the first ones. `None` if no lane reads public values.
    fn classes(&self, step: &Step) -> Option<Vec<Class>> {
        let public: Vec<bool> = step.ports.iter().map(|port| self.reads_public(*port)).collect();
        if step.lanes == 0 || matches!(self.kernel(step), Kernel::Packed(_)) || !public.contains(&true) {
            return None;
        }
        let value = |(port, public): (&Port, &bool), lane: usize| match *port {
            Port::Lanes(layout) if *public => {
                let (slot, at) = self.layouts.at(layout, lane);
                let Source::Public(array) = self.source(slot) else { return None };
                Some(&self.public[array].values[at])
            }
            _ => None,
        };
        let mut numbers: HashMap<Vec<Option<&Natural>>, usize> = HashMap::new();
        let mut lanes: Vec<Vec<usize>> = Vec::new();
        for lane in 0..step.lanes {
            let values = step.ports.iter().zip(&public).map(|port| value(port, lane)).collect();
            let number = *numbers.entry(values).or_insert_with(|| {
                lanes.push(Vec::new());
                lanes.len() - 1
            });
            lanes[number].push(lane);
        }
        let mut classes: Vec<Class> = lanes.into_iter().map(|lanes| Class { values: Vec::new(), lanes }).collect();
        for (values, number) in numbers {
            classes[number].values = values.into_iter().map(Option::<&Natural>::cloned).collect();
        }
        Some(classes)
    }

    fn divide(
        &mut self,
        step: Step,
        classes: Vec<Class>,
        most: usize,
        known: &mut HashMap<(KernelId, Values), KernelId>,
        steps: &mut Vec<Step>,
    ) -> Result<(), Error> {
        if let [Class { values, .. }] = &classes[..] {
            let ports = step.ports.iter().zip(values).filter(|(_, value)| value.is_none()).map(|(port, _)| *port);
            let (ports, kernel) = (ports.collect(), self.kernel_with(step.kernel, values.clone(), known)?);
            steps.push(Step { ports, kernel, ..step });
            return Ok(());
        }
        let may_join = matches!(self.kernel(&step), Kernel::Program(_));
        let (thin, mut parts): (Vec<Class>, Vec<Class>) =
            classes.into_iter().partition(|class| may_join && class.lanes.len() < THIN);
        let mut lanes: Vec<usize> = thin.iter().flat_map(|class| class.lanes.iter().copied()).collect();
        lanes.sort_unstable();
        let joined = if lanes.len() <= most { std::mem::take(&mut lanes) } else { Vec::new() };
        if !lanes.is_empty() {
            // They read the public values.
            parts.push(Class { values: vec![None; step.ports.len()], lanes });
        }
        // The results of each part, and of each lane of the joint kernel, have a slot. One of them is that of the whole.
        let mut outs: Vec<Vec<SlotId>> = vec![Vec::new(); step.out.len()];
        let mut new_slots = |steps: &mut Self| {
            for (parts, &slot) in outs.iter_mut().zip(&step.out) {
                if parts.is_empty() {
                    parts.push(slot);
                } else {
                    // The step is known at the end.
                    steps.slots.push(Source::Step(usize::MAX));
                    parts.push(SlotId(steps.slots.len() as u32 - 1));
                }
            }
            outs.iter().filter_map(|parts| parts.last().copied()).collect::<Vec<_>>()
        };
        let (mut sizes, mut order) = (Vec::new(), vec![0u64; step.lanes]);
        let mut place = 0;
        let mut next = |lanes: &[usize]| {
            sizes.push(lanes.len());
            for &lane in lanes {
                order[lane] = place;
                place += 1;
            }
        };
        for Class { values, lanes } in parts {
            let port = |steps: &mut Self, (port, value): (&Port, &Option<Natural>)| match *port {
                Port::Lanes(layout) if value.is_none() => {
                    Some(Port::Lanes(steps.layouts.some(layout, &lanes, step.lanes)))
                }
                port => value.is_none().then_some(port),
            };
            let ports = step.ports.iter().zip(&values).filter_map(|both| port(self, both)).collect();
            let kernel = self.kernel_with(step.kernel, values, known)?;
            next(&lanes);
            let out = new_slots(self);
            steps.push(Step { level: step.level, kernel, ports, lanes: lanes.len(), out });
        }
        if !joined.is_empty() {
            let (kernel, ports) = self.joint(&step, &thin, &joined)?;
            let mut out = Vec::with_capacity(joined.len() * step.out.len());
            for lane in &joined {
                next(&[*lane]);
                out.extend(new_slots(self));
            }
            steps.push(Step { level: step.level, kernel, ports, lanes: 1, out });
        }
        outs.iter().for_each(|parts| self.layouts.divide(parts, &sizes, &order));
        Ok(())
    }

    /// The kernel of all operations of some lanes, and what it reads.
    fn joint(&mut self, step: &Step, classes: &[Class], lanes: &[usize]) -> Result<(KernelId, Vec<Port>), Error> {
        let mut values: HashMap<usize, &Values> = HashMap::new();
        classes.iter().for_each(|class| values.extend(class.lanes.iter().map(|&lane| (lane, &class.values))));
        let Kernel::Program(program) = self.kernel(step).clone() else {
            return Err(Error::WrongCount { what: "programs of a step", expected: 1, got: 0 });
        };
        let size = program.nodes.len().saturating_mul(lanes.len());
        if size > MAX_NODES {
            return Err(Error::TooLarge { what: "operations", got: size as u64, limit: MAX_NODES as u64 });
        }
        let (mut joint, mut ports) = (Program::default(), Vec::new());
        // An operand of several lanes is one input.
        let mut inputs: HashMap<(usize, SlotId, usize), u32> = HashMap::new();
        for &lane in lanes {
            let first = joint.nodes.len() as u32;
            for node in &program.nodes {
                let op = match node.op {
                    Op::Input(index) => match (&values[&lane][index as usize], step.ports[index as usize]) {
                        (Some(value), _) => Op::Const(value.clone()),
                        (None, Port::Whole(_)) => Op::Input(index),
                        (None, Port::Lanes(layout)) => {
                            let (slot, at) = self.layouts.at(layout, lane);
                            let next = joint.inputs.len() as u32;
                            Op::Input(*inputs.entry((index as usize, slot, at)).or_insert_with(|| {
                                let Input { ty, shape, .. } = program.inputs[index as usize].clone();
                                joint.inputs.push(Input { name: format!("x{next}"), ty, shape });
                                ports.push(Port::Lanes(self.layouts.some(layout, &[lane], step.lanes)));
                                next
                            }))
                        }
                    },
                    ref op => op.clone(),
                };
                let args = node.args.iter().map(|arg| ValueId(arg.0 + first)).collect();
                joint.nodes.push(Node { op, args, ty: node.ty });
            }
            for output in &program.outputs {
                let name = format!("y{}", joint.outputs.len());
                joint.outputs.push(Output { name, value: ValueId(output.value.0 + first) });
            }
        }
        self.kernels.push(Kernel::Program(joint));
        Ok((KernelId(self.kernels.len() as u32 - 1), ports))
    }

    /// The kernel with constants at some of its inputs.
    fn kernel_with(
        &mut self,
        kernel: KernelId,
        values: Values,
        known: &mut HashMap<(KernelId, Values), KernelId>,
    ) -> Result<KernelId, Error> {
        if let Some(&known) = known.get(&(kernel, values.clone())) {
            return Ok(known);
        }
        let made = match &self.kernels[kernel.0 as usize] {
            Kernel::Program(program) | Kernel::Packed(program) => {
                let plain = |(input, value): (&Input, &Natural)| Plain {
                    ty: input.ty,
                    shape: Shape::scalar(),
                    values: vec![value.clone()],
                };
                let all = (0..).zip(&program.inputs).zip(&values);
                let public = all.filter_map(|((at, input), value)| Some((at, plain((input, value.as_ref()?)))));
                Kernel::Program(program.with_public(&public.collect())?)
            }
            Kernel::Circuit { netlist, optimize } => {
                let bits = |(port, value): (&crate::Port, &Option<Natural>)| {
                    value.as_ref().map(|value| (0..port.bits.len()).map(|bit| value.bit(bit)).collect())
                };
                let bits: Vec<Option<Vec<bool>>> = netlist.inputs().iter().zip(&values).map(bits).collect();
                Kernel::Circuit { netlist: netlist.bind(&bits)?, optimize: *optimize }
            }
        };
        self.kernels.push(made);
        let id = KernelId(self.kernels.len() as u32 - 1);
        known.insert((kernel, values), id);
        Ok(id)
    }

    /// Adds steps that copy outputs, for an engine that makes results in a step only: those that `wanted` names, and those of which elements are public.
    ///
    /// # Errors
    /// [`Error::LargeShape`] does not occur for steps that [`split()`](super::split()) made.
    pub fn with_copies(mut self, wanted: impl Fn(usize) -> bool) -> Result<Self, Error> {
        let level = self.steps.iter().map(|step| step.level + 1).max().unwrap_or(0);
        for index in 0..self.outputs.len() {
            let output = &self.outputs[index];
            let (port, ty) = (output.port, output.ty.clone());
            if ty.shape.size() == 0 || !wanted(index) && !self.reads_public(port) {
                continue;
            }
            let slot = SlotId(self.slots.len() as u32);
            self.slots.push(Source::Step(self.steps.len()));
            let (shape, lanes, port_of) = match port {
                Port::Whole(_) => (super::flat(&ty.shape), 1, Port::Whole(slot)),
                Port::Lanes(_) => (Shape::scalar(), ty.shape.size(), Port::Lanes(self.layouts.slot(slot))),
            };
            let copy = copy(ty.ty, shape);
            self.kernels.push(if ty.ty.is_packed() { Kernel::Packed(copy) } else { Kernel::Program(copy) });
            let kernel = KernelId(self.kernels.len() as u32 - 1);
            self.steps.push(Step { level, kernel, ports: vec![port], lanes, out: vec![slot] });
            self.outputs[index].port = port_of;
        }
        Ok(self)
    }

    fn reads_public(&self, port: Port) -> bool {
        self.slots_of(port).into_iter().any(|slot| matches!(self.source(slot), Source::Public(_)))
    }
}

/// The program whose result is its input.
fn copy(ty: Type, shape: Shape) -> Program {
    Program {
        inputs: vec![Input { name: "x0".into(), ty, shape: Some(shape) }],
        nodes: vec![Node { op: Op::Input(0), args: Vec::new(), ty }],
        outputs: vec![Output { name: "y0".into(), value: ValueId(0) }],
        functions: Vec::new(),
    }
}

//! Programs on arrays as steps.

use super::place::{Places, Role};
use super::reduce::{self, Level};
use super::{Kernel, KernelId, LayoutId, Layouts, Output, Port, SlotId, Source, Step, Steps, flat};
use crate::program::{
    self, Axes, Function, How, Input, Node, Op, Program, Shape, Shaped, Strides, Type, ValueId, ValueType,
};
use crate::{Error, Plain};
use std::collections::HashMap;

/// Turns a program on inputs of known shapes into steps. A program of single values on arrays of one shape is one step, whose kernel is that program.
///
/// # Errors
/// [`Error::LargeShape`], or an error of a function of the program.
pub fn split(shaped: &Shaped) -> Result<Steps, Error> {
    let mut splitter = Splitter::new(shaped);
    if let Some(kernel) = splitter.whole() {
        splitter.one_step(kernel)?;
    } else {
        splitter.give_slots();
        for v in 0..splitter.program.nodes.len() {
            if splitter.places.needed[v] {
                splitter.layouts_of[v] = splitter.layout(v)?;
            }
        }
        splitter.kernels()?;
    }
    Ok(splitter.finish())
}

struct Splitter<'a> {
    program: &'a Program,
    shapes: &'a [Shape],
    places: Places<'a>,
    /// The slot of a value that a kernel computes and others read, or of a public value.
    slot: Vec<Option<SlotId>>,
    /// The layouts of the results of each value.
    layouts_of: Vec<Vec<LayoutId>>,
    steps: Steps,
    known: HashMap<KernelKey, KernelId>,
}

/// What tells kernels apart.
#[derive(PartialEq, Eq, Hash)]
enum KernelKey {
    /// What the identity of a plan is made of: types and shapes of the inputs, nodes, outputs.
    Program(Vec<(Type, Option<Shape>)>, Vec<Node>, Vec<ValueId>),
    /// A function, and the ports that are given by bits.
    Circuit(u32, Vec<bool>),
}

impl<'a> Splitter<'a> {
    fn new(shaped: &'a Shaped) -> Self {
        let program = &**shaped.program();
        let of = |(input, shape): (&Input, &Shape)| ValueType { ty: input.ty, shape: shape.clone() };
        let steps = Steps {
            inputs: program.inputs.iter().zip(shaped.inputs()).map(of).collect(),
            public: Vec::new(),
            kernels: Vec::new(),
            steps: Vec::new(),
            outputs: Vec::new(),
            slots: (0..program.inputs.len()).map(Source::Input).collect(),
            layouts: Layouts::default(),
        };
        let count = program.nodes.len();
        Self {
            program,
            shapes: shaped.shapes(),
            places: Places::new(shaped),
            slot: vec![None; count],
            layouts_of: vec![Vec::new(); count],
            steps,
            known: HashMap::new(),
        }
    }

    fn node(&self, v: usize) -> &'a Node {
        &self.program.nodes[v]
    }

    fn new_slot(&mut self, source: Source) -> SlotId {
        self.steps.slots.push(source);
        SlotId(self.steps.slots.len() as u32 - 1)
    }

    fn new_slots(&mut self, count: usize) -> Vec<SlotId> {
        // The step is known after all steps are sorted.
        (0..count).map(|_| self.new_slot(Source::Step(usize::MAX))).collect()
    }

    fn public(&mut self, plain: Plain) -> SlotId {
        self.steps.public.push(plain);
        self.new_slot(Source::Public(self.steps.public.len() - 1))
    }

    fn kernel(&mut self, kernel: Kernel, key: KernelKey) -> KernelId {
        let next = KernelId(self.steps.kernels.len() as u32);
        *self.known.entry(key).or_insert_with(|| {
            self.steps.kernels.push(kernel);
            next
        })
    }

    fn program_kernel(&mut self, program: Program, packed: bool) -> KernelId {
        let inputs = program.inputs.iter().map(|input| (input.ty, input.shape.clone()));
        let outputs = program.outputs.iter().map(|output| output.value).collect();
        let key = KernelKey::Program(inputs.collect(), program.nodes.clone(), outputs);
        self.kernel(if packed { Kernel::Packed(program) } else { Kernel::Program(program) }, key)
    }

    fn finish(mut self) -> Steps {
        self.steps.steps.sort_by_key(|step| step.level);
        for (index, step) in self.steps.steps.iter().enumerate() {
            for slot in &step.out {
                self.steps.slots[slot.0 as usize] = Source::Step(index);
            }
        }
        self.steps
    }

    /// The kernel of a program that is one step as it is: its operations are element by element, on arrays of one shape and scalars.
    fn whole(&self) -> Option<Kernel> {
        let node = self.program.nodes.first()?;
        let packed = node.ty.is_packed();
        // Packed arrays have one length.
        let length = |shape: &Shape| if packed && !shape.is_empty() { vec![shape.size()] } else { shape.to_vec() };
        let array = self.shapes.iter().map(length).max_by_key(Vec::len)?;
        let fits = |(node, shape): (&Node, &Shape)| {
            let is_leaf = matches!(node.op, Op::Input(_) | Op::Const(_));
            let across = packed && node.op.crosses();
            let in_kernel = is_leaf || node.op.is_elementwise() || across;
            let shape = length(shape);
            in_kernel && node.ty.is_packed() == packed && (shape == array || shape.is_empty() && (is_leaf || packed))
        };
        let outputs = self.program.outputs.iter().map(|output| &self.shapes[output.value.0 as usize]);
        let is_array = |input: &ValueType| input.shape.is_empty() || length(&input.shape) == array;
        let all_fit = self.program.nodes.iter().zip(self.shapes).all(fits) && self.steps.inputs.iter().all(is_array);
        if !all_fit || !packed && outputs.into_iter().any(|shape| length(shape) != array) {
            return None;
        }
        let mut kernel = Program { functions: Vec::new(), ..self.program.clone() };
        for (input, given) in kernel.inputs.iter_mut().zip(&self.steps.inputs) {
            input.shape = Some(port_shape(&given.shape, packed));
        }
        kernel.nodes.iter_mut().for_each(|node| node.op = across(&node.op));
        Some(if packed { Kernel::Packed(kernel) } else { Kernel::Program(kernel) })
    }

    /// The step of [`Self::whole`].
    fn one_step(&mut self, kernel: Kernel) -> Result<(), Error> {
        let (program, packed) = match kernel {
            Kernel::Packed(program) => (program, true),
            Kernel::Program(program) => (program, false),
            Kernel::Circuit { .. } => return Ok(()),
        };
        let of = |output: &program::Output| &self.shapes[output.value.0 as usize];
        let array = self.program.outputs.first().map_or_else(Shape::scalar, |output| of(output).clone());
        let mut ports = Vec::with_capacity(self.steps.inputs.len());
        for index in 0..self.steps.inputs.len() {
            let slot = SlotId(index as u32);
            ports.push(if packed {
                Port::Whole(slot)
            } else {
                let layout = self.steps.layouts.slot(slot);
                Port::Lanes(self.steps.layouts.broadcast(layout, &self.steps.inputs[index].shape, &array))
            });
        }
        let out = self.new_slots(program.outputs.len());
        for (output, &slot) in self.program.outputs.iter().zip(&out) {
            let layout = self.steps.layouts.slot(slot);
            self.output(output, if packed { Port::Whole(slot) } else { Port::Lanes(layout) });
        }
        let kernel = self.program_kernel(program, packed);
        let lanes = if packed { 1 } else { array.size() };
        self.steps.steps.push(Step { level: 0, kernel, ports, lanes, out });
        Ok(())
    }

    fn output(&mut self, output: &program::Output, port: Port) {
        let v = output.value.0 as usize;
        let ty = ValueType { ty: self.node(v).ty, shape: self.shapes[v].clone() };
        self.steps.outputs.push(Output { name: output.name.clone(), ty, port });
    }

    /// Gives a slot to each value that something outside of its kernel reads.
    fn give_slots(&mut self) {
        let mut read: Vec<usize> = Vec::new();
        for (v, node) in self.program.nodes.iter().enumerate().filter(|(v, _)| self.places.needed[*v]) {
            if matches!(node.op, Op::Reshape { .. }) {
                continue; // Who reads the result reads what is behind it.
            }
            for &arg in &node.args {
                let of = self.places.behind[arg.0 as usize];
                let is_constant = self.places.is_computed(v) && matches!(self.node(of).op, Op::Const(_));
                if !is_constant && self.places.inside(v, arg).is_none() {
                    read.push(of);
                }
            }
        }
        read.extend(self.program.outputs.iter().map(|output| self.places.behind[output.value.0 as usize]));
        for v in read {
            if self.slot[v].is_none() {
                let Node { op, ty, .. } = self.node(v);
                self.slot[v] = match op {
                    Op::Input(index) => Some(SlotId(*index)),
                    Op::Const(value) => {
                        Some(self.public(Plain { ty: *ty, shape: Shape::scalar(), values: vec![value.clone()] }))
                    }
                    Op::Array { shape, values } => {
                        Some(self.public(Plain { ty: *ty, shape: shape.clone(), values: values.clone() }))
                    }
                    _ if self.places.is_computed(v) => Some(self.new_slots(1)[0]),
                    _ => None,
                };
            }
        }
    }

    /// The layouts of the results of a value; none if only its own kernel reads it.
    fn layout(&mut self, v: usize) -> Result<Vec<LayoutId>, Error> {
        let node = self.node(v);
        let first = |this: &Self, arg: ValueId| this.layouts_of[arg.0 as usize].first().copied();
        Ok(match (self.places.role(v), &node.op) {
            (_, Op::Reshape { .. }) => self.layouts_of[self.places.behind[v]].clone(),
            (Role::Leaf | Role::Lanes | Role::Packed, _) => {
                self.slot[v].map(|slot| self.steps.layouts.slot(slot)).into_iter().collect()
            }
            (_, Op::Reduce { how, axes }) => self.reduce(v, *how, *axes)?,
            (_, Op::Call(function)) => self.call(v, *function)?,
            (_, Op::Result(index)) => {
                self.layouts_of[node.args[0].0 as usize].get(*index as usize).copied().into_iter().collect()
            }
            (_, op) => {
                let op = match op {
                    Op::RotateElements(by) => Op::Roll { by: *by, axes: Axes::All },
                    op => op.clone(),
                };
                let args: Vec<LayoutId> = node.args.iter().filter_map(|&arg| first(self, arg)).collect();
                let shapes: Vec<&Shape> = node.args.iter().map(|arg| &self.shapes[arg.0 as usize]).collect();
                vec![self.steps.layouts.moved(&op, &args, &shapes, &self.shapes[v])?]
            }
        })
    }

    /// The steps of a reduction.
    fn reduce(&mut self, v: usize, how: How, axes: Axes) -> Result<Vec<LayoutId>, Error> {
        let args: Vec<usize> = self.node(v).args.iter().map(|arg| arg.0 as usize).collect();
        let shape = &self.shapes[args[0]];
        let rank = axes.count(shape.len());
        let (lead, inner) = shape.split(rank).unwrap_or((&[], shape));
        let (rows, mut count): (usize, usize) = (lead.iter().product(), inner.iter().product());
        let types: Vec<Type> = args.iter().map(|&arg| self.node(arg).ty).collect();
        if count == 0 {
            let empty = self.public(Plain { ty: types[0], shape: Shape::scalar(), values: vec![how.empty(types[0])] });
            let layout = self.steps.layouts.slot(empty);
            return Ok(vec![self.steps.layouts.broadcast(layout, &Shape::scalar(), &self.shapes[v])]);
        }
        let most = reduce::most(self.program, how, types[0]);
        let mut arrays: Vec<LayoutId> = args.iter().map(|&arg| self.layouts_of[arg][0]).collect();
        let ready = args.iter().map(|&arg| self.places.ready[arg]).max().unwrap_or(0);
        // A kernel that casts its neighbours knows which of their bits are always 0.
        let mut cast = self.cast_below(args[0]).filter(|_| !matches!(how, How::Function(_)));
        // Lanes are in the order in which the elements lie: the groups of a row, or the rows of a group.
        let by_groups = rank > 0 && self.steps.layouts.is_transposed(arrays[0], rank);
        let order = |count: usize| if by_groups { [count, rows] } else { [rows, count] };
        let (mut row, mut element) = (count as i64, 1i64);
        for (level, Level { neighbours, groups, rest }) in (ready..).zip(reduce::levels(count, most)) {
            let port = |steps: &mut Steps, array: LayoutId, first: usize, count: usize, step: usize| {
                let group = element * step as i64;
                let strides = if by_groups { [group, row] } else { [row, group] };
                let shape = Shape::new(order(count))?;
                Ok::<_, Error>(steps.layouts.view(array, shape, Strides::from_slice(&strides), first as i64 * element))
            };
            let mut ports = Vec::with_capacity(neighbours * arrays.len());
            for place in 0..neighbours {
                for &array in &arrays {
                    let array = cast.map_or(array, |(_, array)| array);
                    ports.push(Port::Lanes(port(&mut self.steps, array, place, groups, neighbours)?));
                }
            }
            let mut passed = Vec::with_capacity(arrays.len());
            for &array in &arrays {
                passed.push(if rest > 0 {
                    Some(port(&mut self.steps, array, groups * neighbours, rest, 1)?)
                } else {
                    None
                });
            }
            let from = cast.take().map_or(types[0], |(ty, _)| ty);
            let mut kernel = reduce::kernel(self.program, how, (from, types[0]), neighbours)?;
            // The last kernel computes only the results that something reads.
            let is_made = |at: usize| groups + rest > 1 || self.places.results.contains(&(v, at));
            let made: Vec<bool> = (0..arrays.len()).map(is_made).collect();
            let mut keeps = made.iter();
            kernel.outputs.retain(|_| keeps.next() == Some(&true));
            let out = self.new_slots(kernel.outputs.len());
            let kernel = self.program_kernel(kernel, false);
            let mut slots = out.iter();
            for ((array, passed), is_made) in arrays.iter_mut().zip(passed).zip(made) {
                let Some(&slot) = (if is_made { slots.next() } else { out.first() }) else { continue };
                let results = self.steps.layouts.slot(slot);
                let parts = [Some(results), passed];
                let inner = if by_groups { rows } else { 1 };
                let parts: Vec<LayoutId> = parts.into_iter().flatten().collect();
                *array = self.steps.layouts.join(&parts, &[groups, rest][..parts.len()], inner);
            }
            self.steps.steps.push(Step { level, kernel, ports, lanes: groups * rows, out });
            count = groups + rest;
            (row, element) = if by_groups { (1, rows as i64) } else { (count as i64, 1) };
        }
        Ok(arrays)
    }

    /// The type and the layout of what a value is a cast of.
    fn cast_below(&self, v: usize) -> Option<(Type, LayoutId)> {
        let Node { op: Op::Cast, args, .. } = self.node(v) else { return None };
        let of = args[0].0 as usize;
        Some((self.node(of).ty, *self.layouts_of[of].first()?))
    }

    /// The step of a circuit.
    fn call(&mut self, v: usize, function: u32) -> Result<Vec<LayoutId>, Error> {
        let Some(Function::Circuit { netlist, optimize }) = self.program.functions.get(function as usize) else {
            return Ok(Vec::new());
        };
        // The parts of each output: the bits of a port that no integer holds.
        let outputs = netlist.outputs().iter().map(|port| if port.ty().is_none() { port.bits.len() } else { 1 });
        let outputs: Vec<usize> = outputs.collect();
        let own = &self.shapes[v];
        let has_bits = outputs.first().is_some_and(|&parts| parts > 1);
        let lanes = Shape::new(own[..own.len() - usize::from(has_bits)].iter().copied())?;
        let (mut ports, mut by_bits) = (Vec::new(), Vec::new());
        for (port, arg) in netlist.inputs().iter().zip(&self.node(v).args) {
            let arg = arg.0 as usize;
            let (layout, shape) = (self.layouts_of[arg][0], &self.shapes[arg]);
            let split = port.is_by_bits(self.node(arg).ty);
            by_bits.push(split);
            if !split {
                ports.push(Port::Lanes(self.steps.layouts.broadcast(layout, shape, &lanes)));
                continue;
            }
            let lead = Shape::new(shape[..shape.len() - 1].iter().copied())?;
            let strides = Strides::from_slice(&shape.strides()[..lead.len()]);
            for bit in 0..port.bits.len() {
                let bit = self.steps.layouts.view(layout, lead.clone(), strides.clone(), bit as i64);
                ports.push(Port::Lanes(self.steps.layouts.broadcast(bit, &lead, &lanes)));
            }
        }
        let named = netlist.inputs().iter().zip(&by_bits).filter(|(_, split)| **split);
        let split: Vec<&str> = named.map(|(port, _)| port.name.as_str()).collect();
        let is_whole = split.is_empty() && outputs.iter().all(|&parts| parts == 1);
        let netlist = if is_whole {
            netlist.clone()
        } else {
            netlist.split_ports(|port| split.contains(&port.name.as_str()), |port| port.ty().is_none())
        };
        let out = self.new_slots(netlist.outputs().len());
        let kernel = Kernel::Circuit { netlist, optimize: *optimize };
        let kernel = self.kernel(kernel, KernelKey::Circuit(function, by_bits));
        let (mut results, mut slots) = (Vec::with_capacity(outputs.len()), out.iter());
        for parts in outputs {
            let parts: Vec<LayoutId> = slots.by_ref().take(parts).map(|&slot| self.steps.layouts.slot(slot)).collect();
            results.push(self.steps.layouts.join(&parts, &vec![1; parts.len()], 1));
        }
        self.steps.steps.push(Step { level: self.places.level[v], kernel, ports, lanes: lanes.size(), out });
        Ok(results)
    }

    /// The steps of the operations of kernels, and the outputs.
    fn kernels(&mut self) -> Result<(), Error> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        for v in (0..self.program.nodes.len()).filter(|&v| self.places.needed[v] && self.places.is_computed(v)) {
            let number = *numbers.entry(self.places.group(v)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[number].push(v);
        }
        for group in groups {
            let step = KernelBuilder::new(self, &group).build(&group)?;
            self.steps.steps.push(step);
        }
        for output in &self.program.outputs {
            let v = output.value.0 as usize;
            let port = match self.slot[self.places.behind[v]] {
                Some(slot) if self.node(v).ty.is_packed() => Port::Whole(slot),
                _ => Port::Lanes(self.layouts_of[v][0]),
            };
            self.output(output, port);
        }
        Ok(())
    }
}

/// The shape of an input of a kernel.
fn port_shape(shape: &Shape, packed: bool) -> Shape {
    if packed { flat(shape) } else { Shape::scalar() }
}

/// The operation of a kernel on whole arrays.
fn across(op: &Op) -> Op {
    match op {
        Op::Roll { by, .. } => Op::RotateElements(*by),
        Op::Reduce { .. } => Op::SumElements,
        op => op.clone(),
    }
}

/// Builds the kernel of some operations.
struct KernelBuilder<'s, 'a> {
    splitter: &'s mut Splitter<'a>,
    packed: bool,
    kernel: Program,
    ports: Vec<Port>,
    /// The value in the kernel of each value of the program, and of each port.
    values: HashMap<usize, ValueId>,
    inputs: HashMap<Port, ValueId>,
}

impl<'s, 'a> KernelBuilder<'s, 'a> {
    fn new(splitter: &'s mut Splitter<'a>, group: &[usize]) -> Self {
        let packed = group.first().is_some_and(|&v| splitter.node(v).ty.is_packed());
        let kernel = Program::default();
        Self { splitter, packed, kernel, ports: Vec::new(), values: HashMap::new(), inputs: HashMap::new() }
    }

    fn push(&mut self, op: Op, args: Vec<ValueId>, ty: Type) -> ValueId {
        self.kernel.nodes.push(Node { op, args, ty });
        ValueId(self.kernel.nodes.len() as u32 - 1)
    }

    fn build(mut self, group: &[usize]) -> Result<Step, Error> {
        for &v in group {
            let node = self.splitter.node(v);
            let args = node.args.iter().map(|&arg| self.operand(v, arg)).collect();
            let op = if self.packed { across(&node.op) } else { node.op.clone() };
            let value = self.push(op, args, node.ty);
            self.values.insert(v, value);
        }
        let mut out = Vec::new();
        for v in group {
            if let Some(slot) = self.splitter.slot[*v] {
                let name = format!("y{}", out.len());
                self.kernel.outputs.push(program::Output { name, value: self.values[v] });
                out.push(slot);
            }
        }
        let Self { splitter, packed, kernel, ports, .. } = self;
        let level = splitter.places.level[group[0]];
        let lanes = if packed { 1 } else { splitter.shapes[group[0]].size() };
        let kernel = splitter.program_kernel(kernel, packed);
        Ok(Step { level, kernel, ports, lanes, out })
    }

    /// The operand of an operation: a value of the kernel, a constant, or an input.
    fn operand(&mut self, v: usize, arg: ValueId) -> ValueId {
        if let Some(inside) = self.splitter.places.inside(v, arg) {
            return self.values[&inside];
        }
        let of = self.splitter.places.behind[arg.0 as usize];
        let Node { op, ty, .. } = self.splitter.node(of);
        if let Op::Const(_) = op {
            if let Some(&value) = self.values.get(&of) {
                return value;
            }
            let value = self.push(op.clone(), Vec::new(), *ty);
            self.values.insert(of, value);
            return value;
        }
        let arg = arg.0 as usize;
        let from = &self.splitter.shapes[arg];
        let port = match self.splitter.slot[of] {
            Some(slot) if self.packed => Port::Whole(slot),
            _ => {
                let layout = self.splitter.layouts_of[arg][0];
                Port::Lanes(self.splitter.steps.layouts.broadcast(layout, from, &self.splitter.shapes[v]))
            }
        };
        if let Some(&value) = self.inputs.get(&port) {
            return value;
        }
        let name = format!("x{}", self.ports.len());
        self.kernel.inputs.push(Input { name, ty: *ty, shape: Some(port_shape(from, self.packed)) });
        let value = self.push(Op::Input(self.ports.len() as u32), Vec::new(), *ty);
        self.ports.push(port);
        self.inputs.insert(port, value);
        value
    }
}

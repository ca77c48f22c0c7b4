//! Circuits as programs.

use super::{Function, Input, Node, Op, Program, ProgramBuilder, Shape, Type, ValueType};
use crate::{Error, Netlist, Port};

impl Program {
    /// The program that calls a circuit. With `optimize`, an engine may simplify the circuit; without it, the engine runs gate for gate, which shows the cost of
    /// a construction itself.
    ///
    /// # Errors
    /// [`Error::NoOutputs`] for a circuit without outputs. Names of ports are distinct in every netlist.
    pub fn of_circuit(netlist: Netlist, optimize: bool) -> Result<Self, Error> {
        let mut builder = ProgramBuilder::new();
        let args = netlist.inputs().iter().map(|port| builder.input(&port.name, port.element_type()));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<String> = netlist.outputs().iter().map(|port| port.name.clone()).collect();
        let results = builder.call(netlist, optimize, &args)?;
        names.into_iter().zip(results).for_each(|(name, value)| builder.output(name, value));
        builder.finish()
    }

    /// The circuit of a program that is one call of it, as [`Self::of_circuit`] makes. It takes values of each type that its ports take ([`Port::input_type`]).
    /// A program whose inputs have other names, types or shapes than its ports takes these alone.
    #[must_use]
    pub fn circuit(&self) -> Option<&Netlist> {
        let [Function::Circuit { netlist, .. }] = &self.functions[..] else { return None };
        let count = self.inputs.len();
        let is_port = |(input, port): (&Input, &Port)| {
            input.name == port.name && input.ty == port.element_type() && input.shape.is_none()
        };
        if !self.inputs.iter().zip(netlist.inputs()).all(is_port) {
            return None;
        }
        let is_part = |(at, node): (usize, &Node)| match node.op {
            Op::Input(index) => index as usize == at && at < count,
            Op::Call(_) => at == count && node.args.iter().map(|arg| arg.0 as usize).eq(0..count),
            Op::Result(index) => at > count && at - count == index as usize,
            _ => false,
        };
        let results = count..count + netlist.outputs().len();
        let gives_all = self.outputs.iter().map(|output| output.value.0 as usize).eq(results.clone());
        (gives_all && self.nodes.len() == results.end && self.nodes.iter().enumerate().all(is_part)).then_some(netlist)
    }

    /// The program with inputs of other types, which its circuits take.
    #[must_use]
    pub fn with_input_types(mut self, types: &[Type]) -> Self {
        self.inputs.iter_mut().zip(types).for_each(|(input, ty)| input.ty = *ty);
        for node in &mut self.nodes {
            if let Op::Input(index) = node.op {
                node.ty = self.inputs[index as usize].ty;
            }
        }
        self
    }

    /// The shapes of the inputs for an estimate: the declared ones, and `any` for the others. At a port that no integer is as wide as, the last dimension of an
    /// input holds the bits.
    ///
    /// # Errors
    /// [`Error::LargeShape`].
    pub fn fresh_shapes(&self, any: &Shape) -> Result<Vec<Shape>, Error> {
        let mut shapes: Vec<Option<Shape>> = self.inputs.iter().map(|input| input.shape.clone()).collect();
        for call in &self.nodes {
            let Some(netlist) = self.called(call) else { continue };
            for (port, arg) in netlist.inputs().iter().zip(&call.args) {
                let Node { op: Op::Input(index), ty, .. } = self.nodes[arg.0 as usize] else { continue };
                if port.is_by_bits(ty) {
                    let bits = Shape::new(any.iter().copied().chain([port.bits.len()]))?;
                    shapes[index as usize].get_or_insert(bits);
                }
            }
        }
        Ok(shapes.into_iter().map(|shape| shape.unwrap_or_else(|| any.clone())).collect())
    }

    /// The circuit that an operation calls.
    pub(super) fn called(&self, node: &Node) -> Option<&Netlist> {
        let Op::Call(index) = node.op else { return None };
        match self.functions.get(index as usize) {
            Some(Function::Circuit { netlist, .. }) => Some(netlist),
            _ => None,
        }
    }
}

impl Port {
    /// The type of a value at the port: an integer of all its bits, or one bit if no integer is as wide.
    #[must_use]
    pub fn element_type(&self) -> Type {
        self.ty().unwrap_or(Type::Bool)
    }

    /// The type of a program's input for a value at the port: that of a value of the port's width, which may have another sign, or bools whose last dimension
    /// holds the port's bits. `None` if the port does not take the value.
    #[must_use]
    pub fn input_type(&self, value: &ValueType) -> Option<Type> {
        let width = self.bits.len();
        let by_bits = self.is_by_bits(value.ty) && value.shape.last() == Some(&width);
        (by_bits || self.ty().is_some() && value.ty.width() == width).then_some(value.ty)
    }

    /// Whether a value of that type may stand for the port: an integer of its width, or bools for its bits.
    pub(super) fn takes(&self, ty: Type) -> bool {
        let is_integer = !ty.is_packed() && self.ty().is_some() && ty.width() == self.bits.len();
        is_integer || self.is_by_bits(ty)
    }

    /// Whether values of that type hold the bits of the port along their last dimension.
    pub(crate) fn is_by_bits(&self, ty: Type) -> bool {
        ty == Type::Bool && self.bits.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    /// A circuit of a port that no integer is as wide as, and of one bit.
    fn wide() -> Netlist {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 2050, false), b.input("y", 1, false));
        let (both, not) = (b.and(x[2049], y[0]), b.not(y[0]));
        b.output("both", &[both], false);
        b.output("not", &[not], false);
        b.finish().unwrap()
    }

    #[test]
    fn a_program_of_one_call_is_a_circuit() {
        let program = Program::of_circuit(wide(), true).unwrap();
        assert_eq!(program.circuit(), Some(&wide()));
        assert_eq!(Program::from_op("add", &[Type::Uint(8); 2]).unwrap().circuit(), None);
        let mut swapped = program.clone();
        swapped.outputs.swap(0, 1);
        let mut fewer = program.clone();
        fewer.outputs.pop();
        let mut more = program.clone();
        more.nodes.push(Node { op: Op::Not, args: vec![super::super::ValueId(2)], ty: Type::Bool });
        // What a file declares holds.
        let (mut shaped, mut named) = (program.clone(), program.clone());
        shaped.inputs[1].shape = Some(Shape::new([3]).unwrap());
        named.inputs[1].name = "z".into();
        let retyped = program.clone().with_input_types(&[Type::Bool, Type::Uint(1)]);
        for other in [swapped, fewer, more, shaped, named, retyped] {
            other.validate().unwrap();
            assert_eq!(other.circuit(), None, "{other:?}");
        }
    }

    #[test]
    fn fresh_inputs_of_wide_ports_have_their_bits() {
        let mut program = Program::of_circuit(wide(), true).unwrap();
        let shape = |sizes: &[usize]| Shape::new(sizes.iter().copied()).unwrap();
        assert_eq!(program.fresh_shapes(&shape(&[3])).unwrap(), [shape(&[3, 2050]), shape(&[3])]);
        program.inputs[1].shape = Some(shape(&[2, 1]));
        assert_eq!(program.fresh_shapes(&Shape::scalar()).unwrap(), [shape(&[2050]), shape(&[2, 1])]);
    }

    #[test]
    fn a_port_takes_integers_of_its_width_and_bits() {
        let port = |width, signed| Port { name: "x".into(), bits: vec![crate::NodeId(0); width], signed };
        let input = |port: &Port, ty, sizes: &[usize]| {
            port.input_type(&ValueType { ty, shape: Shape::new(sizes.iter().copied()).unwrap() })
        };
        let (narrow, bit, wide) = (port(8, true), port(1, false), port(2050, false));
        for ty in [Type::Uint(8), Type::Int(8)] {
            assert_eq!(input(&narrow, ty, &[3]), Some(ty));
        }
        assert_eq!(input(&narrow, Type::Bool, &[3, 8]), Some(Type::Bool));
        assert_eq!(input(&narrow, Type::Bool, &[8, 3]), None);
        assert_eq!(input(&narrow, Type::Uint(9), &[]), None);
        assert_eq!(input(&bit, Type::Uint(1), &[]), Some(Type::Uint(1)));
        assert_eq!(input(&wide, Type::Bool, &[2050]), Some(Type::Bool));
        assert_eq!(input(&wide, Type::Uint(2048), &[]), None);
    }
}

//! Expressions: values that are not computed yet. The handles of Rust and Python hold them.
//!
//! An expression is a value, or an operation on expressions that others may share. [`freeze`] makes a program of the expressions that have no result yet.

use crate::program::{Axes, Function, How, Op, Program, ProgramBuilder, Shape, Type, ValueId, ValueType};
use crate::{Error, Natural, Netlist};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A value of an expression: what a server computed, or what the user gave.
pub trait Leaf: Clone {
    /// Its type and shape.
    fn value_type(&self) -> ValueType;
}

/// A value, or an operation on other expressions. It keeps the result that was computed for it, and then drops its operands.
pub struct Expr<L> {
    of: ValueType,
    /// Expressions are numbered in the order in which they are made, so operands have smaller numbers.
    serial: u64,
    is_open: bool,
    /// What computes the result; `None` if the result is there.
    source: Mutex<Option<Arc<Source<L>>>>,
    result: OnceLock<L>,
}

type Args<L> = Vec<Arc<Expr<L>>>;

/// What computes an expression.
pub enum Source<L> {
    /// Values that a server sees, and that are no constant.
    Public(L),
    /// An input of a program that is being recorded, by its name.
    Parameter(String),
    /// An operation of a program. A constant is one.
    Operation(Op, Args<L>),
    /// Elements of an array by their indices, row by row.
    Elements(Vec<u64>, Arc<Expr<L>>),
    /// Scalars, one after the other.
    Stack(Args<L>),
    /// Scalars and the elements of arrays, one after the other.
    Join(Args<L>),
    /// What has several results, which are [`Source::Output`].
    Call(Callee, Args<L>),
    /// The result of a call with this number, from 0.
    Output(usize, Arc<Expr<L>>),
}

/// What computes several results.
pub enum Callee {
    /// The operations of a program, on its inputs.
    Program(Arc<Program>),
    /// A circuit, on its ports.
    Circuit(Arc<Netlist>),
    /// A function of two elements, which combines those along the last dimensions. An element is a value of each operand.
    Reduction(Arc<Program>, Axes),
}

impl<L> Source<L> {
    fn operands(&self) -> &[Arc<Expr<L>>] {
        match self {
            Self::Public(_) | Self::Parameter(_) => &[],
            Self::Operation(_, args) | Self::Stack(args) | Self::Join(args) | Self::Call(_, args) => args,
            Self::Elements(_, operand) | Self::Output(_, operand) => std::slice::from_ref(operand),
        }
    }
}

impl<L: Leaf> Expr<L> {
    fn new(of: ValueType, source: Source<L>) -> Arc<Self> {
        let is_open = matches!(source, Source::Parameter(_)) || source.operands().iter().any(|arg| arg.is_open);
        Self::made(of, is_open, Some(Arc::new(source)), OnceLock::new())
    }

    fn made(of: ValueType, is_open: bool, source: Option<Arc<Source<L>>>, result: OnceLock<L>) -> Arc<Self> {
        static SERIALS: AtomicU64 = AtomicU64::new(0);
        let serial = SERIALS.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { of, serial, is_open, source: Mutex::new(source), result })
    }

    /// A value that was computed, or that a client encrypted.
    pub fn value(value: L) -> Arc<Self> {
        Self::made(value.value_type(), false, None, value.into())
    }

    /// Values that a server sees.
    pub fn public(value: L) -> Arc<Self> {
        Self::new(value.value_type(), Source::Public(value))
    }

    /// A public scalar, by its bits.
    pub fn constant(bits: Natural, ty: Type) -> Arc<Self> {
        Self::unchecked(Op::Const(bits), Vec::new(), scalar(ty))
    }

    /// An input, a scalar, of a program that is being recorded.
    pub fn parameter(name: impl Into<String>, ty: Type) -> Arc<Self> {
        Self::new(scalar(ty), Source::Parameter(name.into()))
    }

    /// An operation. `declared` is the type of a result that the operands do not decide.
    ///
    /// # Errors
    /// [`Error::Arity`], [`Error::OperandTypes`] or [`Error::Shape`] for operands that it does not take.
    pub fn op(op: Op, args: Args<L>, declared: Type) -> Result<Arc<Self>, Error> {
        let of = Self::inferred(&op, &args, declared)?;
        Ok(Self::unchecked(op, args, of))
    }

    /// The type and shape of an operation.
    ///
    /// # Errors
    /// As [`Self::op`].
    pub fn inferred(op: &Op, args: &[Arc<Self>], declared: Type) -> Result<ValueType, Error> {
        let types: Vec<Type> = args.iter().map(|arg| arg.ty()).collect();
        let ty = op.result_type(&[], &types, declared, String::new)?;
        let shapes: Vec<&Shape> = args.iter().map(|arg| arg.shape()).collect();
        Ok(ValueType { ty, shape: op.shape(&shapes)? })
    }

    /// An operation of this type and shape. It is checked when the program is.
    pub fn unchecked(op: Op, args: Args<L>, of: ValueType) -> Arc<Self> {
        Self::new(of, Source::Operation(op, args))
    }

    /// The elements of an array with these indices, row by row, as an array of this shape, or as a scalar.
    pub fn elements(self: &Arc<Self>, indices: Vec<u64>, shape: Shape) -> Arc<Self> {
        let is_all = indices.len() == self.shape().size() && (0..).zip(&indices).all(|(place, &index)| place == index);
        if is_all && shape == *self.shape() {
            return Arc::clone(self);
        }
        let chosen = |parts: &Args<L>| -> Option<Args<L>> {
            indices.iter().map(|&index| parts.get(index as usize).cloned()).collect()
        };
        match self.source().as_deref() {
            Some(Source::Stack(parts)) => match chosen(parts) {
                Some(parts) if shape.is_empty() && parts.len() == 1 => return Arc::clone(&parts[0]),
                Some(parts) if !shape.is_empty() => return Self::stack(parts, ValueType { ty: self.ty(), shape }),
                _ => {}
            },
            Some(Source::Elements(inner, array)) => {
                let composed = indices.iter().map(|&index| inner.get(index as usize).copied()).collect();
                if let Some(indices) = composed {
                    return array.elements(indices, shape);
                }
            }
            _ => {}
        }
        Self::new(ValueType { ty: self.ty(), shape }, Source::Elements(indices, Arc::clone(self)))
    }

    /// Scalars and the elements of arrays, one after the other, as an array of this type and shape.
    pub fn stack(parts: Args<L>, of: ValueType) -> Arc<Self> {
        let is_of_scalars = parts.iter().all(|part| part.shape().is_empty());
        Self::new(of, if is_of_scalars { Source::Stack(parts) } else { Source::Join(parts) })
    }

    /// The results of a call, of these types and shapes.
    pub fn call(callee: Callee, args: Args<L>, results: Vec<ValueType>) -> Args<L> {
        // The call itself is no value, so its type is never read.
        let call = Self::new(scalar(Type::Bool), Source::Call(callee, args));
        let output = |(number, of)| Self::new(of, Source::Output(number, Arc::clone(&call)));
        results.into_iter().enumerate().map(output).collect()
    }

    /// Keeps the result, and drops the operands, which may hold large values. If there is a result already, it stays.
    pub fn keep(&self, result: L) {
        self.result.get_or_init(|| result);
        drop_all(self.source.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl<L> Expr<L> {
    /// The type of each element.
    pub const fn ty(&self) -> Type {
        self.of.ty
    }

    /// The shape; that of a scalar for one value, which goes with every element of an array.
    pub const fn shape(&self) -> &Shape {
        &self.of.shape
    }

    /// What computes the expression, at this time: another thread may keep the result. `None` if the result is there.
    pub fn source(&self) -> Option<Arc<Source<L>>> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The result, if it is there.
    pub fn result(&self) -> Option<&L> {
        self.result.get()
    }

    /// Whether it depends on a parameter of a program that is being recorded.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// The number of the expression. Operands have smaller ones.
    pub const fn serial(&self) -> u64 {
        self.serial
    }
}

fn scalar(ty: Type) -> ValueType {
    ValueType { ty, shape: Shape::scalar() }
}

impl<L> Drop for Expr<L> {
    fn drop(&mut self) {
        drop_all(self.source.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Drops a chain of expressions without recursion, because the chain may be as long as memory allows.
fn drop_all<L>(source: Option<Arc<Source<L>>>) {
    let operands = |source: Option<Arc<Source<L>>>| source.map_or_else(Vec::new, |source| source.operands().to_vec());
    let mut waiting = operands(source);
    while let Some(expr) = waiting.pop() {
        if let Some(mut expr) = Arc::into_inner(expr) {
            waiting.append(&mut operands(expr.source.get_mut().unwrap_or_else(PoisonError::into_inner).take()));
        }
    }
}

/// An expression, and what computes it.
pub type Sourced<L> = (Arc<Expr<L>>, Option<Arc<Source<L>>>);

/// The expressions that the roots depend on, each once and operands first. The operands of a result are left out.
pub fn reachable<L>(roots: &[Arc<Expr<L>>]) -> Vec<Sourced<L>> {
    reachable_by(roots, |_| true).unwrap_or_default()
}

/// As [`reachable`]; `None` if what computes one of them is not allowed, for which no more of them are visited.
pub fn reachable_by<L>(roots: &[Arc<Expr<L>>], is_allowed: impl Fn(&Source<L>) -> bool) -> Option<Vec<Sourced<L>>> {
    let (mut waiting, mut seen, mut all) = (roots.to_vec(), HashSet::new(), Vec::new());
    while let Some(expr) = waiting.pop() {
        if seen.insert(expr.serial) {
            let source = expr.source();
            if let Some(source) = source.as_deref() {
                if !is_allowed(source) {
                    return None;
                }
                waiting.extend_from_slice(source.operands());
            }
            all.push((expr, source));
        }
    }
    all.sort_unstable_by_key(|(expr, _)| expr.serial);
    Some(all)
}

/// The first expression under the roots that is no operation on these parameters and constants.
pub fn foreign<L>(parameters: &[Arc<Expr<L>>], roots: &[Arc<Expr<L>>]) -> Option<Sourced<L>> {
    let own: HashSet<u64> = parameters.iter().map(|own| own.serial).collect();
    let is_foreign = |(expr, source): &Sourced<L>| match source.as_deref() {
        Some(Source::Operation(..) | Source::Output(..) | Source::Call(Callee::Program(_), _)) => false,
        Some(Source::Parameter(_)) => !own.contains(&expr.serial),
        _ => true,
    };
    reachable(roots).into_iter().find(is_foreign)
}

/// The program that computes the roots, and the values of its inputs. The parameters are its first inputs, of any shape, and have no value. The outputs are
/// `y1`, `y2` and so on.
///
/// Operations come in the order in which they were made, each once. Equal constants are one value. A result is an input.
///
/// # Errors
/// Those of [`ProgramBuilder`]; [`Error::BadPort`] for a parameter that is not among those given.
pub fn freeze<L: Leaf>(parameters: &[Arc<Expr<L>>], roots: &[Arc<Expr<L>>]) -> Result<(Program, Vec<L>), Error> {
    let (values, constants, calls) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut freezer = Freezer { builder: ProgramBuilder::new(), inputs: Vec::new(), values, constants, calls };
    for parameter in parameters {
        if let Some(Source::Parameter(name)) = parameter.source().as_deref() {
            let value = freezer.builder.input(name, parameter.ty())?;
            freezer.values.insert(parameter.serial, value);
        }
    }
    for (expr, source) in reachable(roots) {
        if let Some(source) = source {
            freezer.add(&expr, &source)?;
        }
    }
    for (number, root) in (1..).zip(roots) {
        let value = freezer.value(root)?;
        freezer.builder.output(format!("y{number}"), value);
    }
    Ok((freezer.builder.finish()?, freezer.inputs))
}

struct Freezer<L> {
    builder: ProgramBuilder,
    inputs: Vec<L>,
    /// The values of expressions, by their numbers.
    values: HashMap<u64, ValueId>,
    constants: HashMap<(Type, Natural), ValueId>,
    /// The results of calls.
    calls: HashMap<u64, Vec<ValueId>>,
}

impl<L: Leaf> Freezer<L> {
    /// Adds what computes an expression. Values and constants are added when an operation reads them.
    fn add(&mut self, expr: &Expr<L>, source: &Source<L>) -> Result<(), Error> {
        if matches!(source, Source::Public(_) | Source::Parameter(_) | Source::Operation(Op::Const(_), _)) {
            return Ok(());
        }
        let args = if let Source::Output(..) = source { Vec::new() } else { self.all(source.operands())? };
        let parts = |operands: &[Arc<Expr<L>>]| -> Vec<_> {
            args.iter().copied().zip(operands.iter().map(|operand| operand.shape().clone())).collect()
        };
        let value = match source {
            Source::Operation(op, _) => self.builder.typed(op.clone(), &args, expr.ty())?,
            Source::Elements(indices, array) => {
                self.builder.elements(args[0], array.shape(), indices.clone(), expr.shape())?
            }
            Source::Stack(operands) | Source::Join(operands) => self.builder.stack(&parts(operands), expr.shape())?,
            Source::Call(callee, _) => {
                let results = self.call(callee, &args)?;
                self.calls.insert(expr.serial, results);
                return Ok(());
            }
            Source::Output(number, call) => match self.calls.get(&call.serial).and_then(|all| all.get(*number)) {
                Some(value) => *value,
                None => return Err(Error::WrongCount { what: "results", expected: *number, got: *number + 1 }),
            },
            Source::Public(_) | Source::Parameter(_) => return Ok(()),
        };
        self.values.insert(expr.serial, value);
        Ok(())
    }

    fn call(&mut self, callee: &Callee, args: &[ValueId]) -> Result<Vec<ValueId>, Error> {
        let (program, axes) = match callee {
            Callee::Program(program) => return self.builder.inline(program, args),
            Callee::Circuit(netlist) => return self.builder.call((**netlist).clone(), true, args),
            Callee::Reduction(program, axes) => (program, *axes),
        };
        let how = How::Function(self.builder.function(Function::Program((**program).clone())));
        let first = self.builder.op(Op::Reduce { how, axes }, args)?;
        let rest = (1..args.len() as u32).map(|index| self.builder.op(Op::Result(index), &[first]));
        std::iter::once(Ok(first)).chain(rest).collect()
    }

    fn all(&mut self, exprs: &[Arc<Expr<L>>]) -> Result<Vec<ValueId>, Error> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// The value of an expression.
    fn value(&mut self, expr: &Expr<L>) -> Result<ValueId, Error> {
        if let Some(value) = self.values.get(&expr.serial) {
            return Ok(*value);
        }
        let source = expr.source();
        let value = match (source.as_deref(), expr.result()) {
            (Some(Source::Operation(Op::Const(bits), _)), _) => {
                let key = (expr.ty(), bits.clone());
                if let Some(value) = self.constants.get(&key) {
                    return Ok(*value);
                }
                let value = self.builder.constant(bits.clone(), expr.ty())?;
                self.constants.insert(key, value);
                value
            }
            (Some(Source::Public(leaf)), _) | (_, Some(leaf)) => {
                self.inputs.push(leaf.clone());
                let name = format!("x{}", self.inputs.len());
                self.builder.array_input(name, expr.ty(), expr.shape().clone())?
            }
            (Some(Source::Parameter(name)), _) => {
                let problem = "is a parameter of another program; declare one for it";
                return Err(Error::BadPort { name: name.clone(), problem });
            }
            _ => return Err(Error::WrongCount { what: "values", expected: 1, got: 0 }),
        };
        self.values.insert(expr.serial, value);
        Ok(value)
    }
}

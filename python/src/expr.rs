//! Expressions: values and recorded operations, shared with the Rust library.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use num_bigint::BigUint;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use solinas_circuits::expr::{Callee, Expr, Source, Sourced, foreign, freeze, reachable_by};
use solinas_circuits::program::{Axes, How, Op, Shape, Type, ValueType};
use solinas_circuits::{Error, Natural};
use solinas_engine::{Ciphertext, Input, Plain};

use crate::ciphertext::PyCiphertext;
use crate::circuit::PyCircuit;
use crate::error::{Failure, circuit_error, guarded};
use crate::keys::numbers;
use crate::program::PyProgram;

/// A ciphertext, public values, or an operation on other expressions.
#[pyclass(module = "solinas._core", name = "Expr", frozen, eq, hash)]
pub(crate) struct PyExpr {
    expr: Arc<Expr<Input>>,
    /// The type that the values stand for, such as `fixed16.8`, which is stored as `i16`.
    name: Py<PyString>,
}

impl PartialEq for PyExpr {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.expr, &other.expr)
    }
}

impl Hash for PyExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expr.serial().hash(state);
    }
}

type Exprs<'py> = Vec<Bound<'py, PyExpr>>;

fn exprs(all: &[Bound<'_, PyExpr>]) -> Vec<Arc<Expr<Input>>> {
    all.iter().map(|each| Arc::clone(&each.get().expr)).collect()
}

/// The integer type that holds a type, as in `i16` for `fixed16.8`. Other types hold themselves.
#[pyfunction]
pub(crate) fn stored(name: &str) -> Cow<'_, str> {
    match name.strip_prefix("fixed").and_then(|sizes| sizes.split('.').next()) {
        Some(width) => format!("i{width}").into(),
        None => name.into(),
    }
}

fn stored_type(name: &Bound<'_, PyString>) -> PyResult<Type> {
    stored(name.to_str()?).parse().map_err(|error| circuit_error(&error))
}

fn checked<T>(result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|error| circuit_error(&error))
}

/// The operation of this name. `table` is that of a lookup, `by` the places of a rotation of elements.
pub(crate) fn operation(name: &str, table: Option<Vec<BigUint>>, by: i64) -> Result<Op, Error> {
    Ok(match name {
        "rotate_elements" => Op::RotateElements(by),
        "sum_elements" => Op::SumElements,
        "sum" => Op::Sum,
        "index" => Op::Index,
        "cast" => Op::Cast,
        "lookup" => Op::Lookup(table.into_iter().flatten().map(Natural::from).collect()),
        _ => match Op::from_name(name) {
            Some(op) => op,
            None => {
                return Err(Error::UnknownOperation { name: name.into(), known: "those of solinas.Value".into() });
            }
        },
    })
}

/// What a call computes.
#[derive(FromPyObject)]
enum PyCallee<'py> {
    Program(PyRef<'py, PyProgram>),
    Circuit(PyRef<'py, PyCircuit>),
}

/// A built-in reduction, or a function of two elements.
#[derive(FromPyObject)]
enum PyHow<'py> {
    Named(String),
    Function(PyRef<'py, PyProgram>),
}

/// What the expression depends on, if it is a ciphertext or only moves elements of ciphertexts; `None` if a server has to compute something.
fn moves(root: &Arc<Expr<Input>>) -> Option<Vec<Sourced<Input>>> {
    let is_move = |source: &_| matches!(source, Source::Elements(..) | Source::Stack(_) | Source::Join(_));
    reachable_by(std::slice::from_ref(root), is_move)
}

fn ciphertext(expr: &Expr<Input>) -> Option<Ciphertext> {
    match expr.result() {
        Some(Input::Encrypted(ciphertext)) => Some(ciphertext.clone()),
        _ => None,
    }
}

/// The ciphertext of an expression that only moves elements of ciphertexts; `None` for other ones.
fn settled(root: &Arc<Expr<Input>>) -> Result<Option<Ciphertext>, Failure> {
    for (expr, source) in moves(root).into_iter().flatten() {
        let moved = match source.as_deref() {
            Some(Source::Elements(indices, array)) => part(ciphertext(array), indices, expr.shape())?,
            Some(Source::Stack(parts) | Source::Join(parts)) => {
                joined(parts.iter().filter_map(|part| ciphertext(part)).collect(), expr.shape())?
            }
            _ => continue,
        };
        expr.keep(moved.into());
    }
    Ok(ciphertext(root))
}

fn sizes(shape: &Shape) -> Option<Vec<usize>> {
    (!shape.is_empty()).then(|| shape.to_vec())
}

fn joined(parts: Vec<Ciphertext>, shape: &Shape) -> Result<Ciphertext, Failure> {
    Ok(Ciphertext::stack(parts)?.reshape(sizes(shape))?)
}

fn part(array: Option<Ciphertext>, indices: &[u64], shape: &Shape) -> Result<Ciphertext, Failure> {
    let array = array.ok_or(solinas_engine::Error::EmptyArray)?;
    let indices: Vec<usize> = indices.iter().map(|&index| index as usize).collect();
    PyCiphertext::part(&array, &indices, sizes(shape))
}

impl PyExpr {
    fn new(expr: Arc<Expr<Input>>, name: &Bound<'_, PyString>) -> Self {
        Self { expr, name: name.clone().unbind() }
    }

    fn named(&self, py: Python<'_>, expr: Arc<Expr<Input>>) -> Self {
        Self { expr, name: self.name.clone_ref(py) }
    }
}

#[pymethods]
impl PyExpr {
    /// A ciphertext that holds a type.
    #[staticmethod]
    fn ciphertext(ciphertext: PyRef<'_, PyCiphertext>, ty: &Bound<'_, PyString>) -> Self {
        Self::new(Expr::value(ciphertext.inner.clone().into()), ty)
    }

    /// A public scalar, by its bits.
    #[staticmethod]
    fn constant(bits: BigUint, ty: &Bound<'_, PyString>) -> PyResult<Self> {
        Ok(Self::new(Expr::constant(bits.into(), stored_type(ty)?), ty))
    }

    /// A public array, by the bits of its elements.
    #[staticmethod]
    fn public(bits: Vec<BigUint>, ty: &Bound<'_, PyString>, shape: Vec<usize>) -> PyResult<Self> {
        let plain = Plain::new(stored_type(ty)?, Some(shape), bits).map_err(Failure::from)?;
        Ok(Self::new(Expr::public(plain.into()), ty))
    }

    /// A parameter, a scalar, of a program that is being recorded.
    #[staticmethod]
    fn parameter(name: &str, ty: &Bound<'_, PyString>) -> PyResult<Self> {
        Ok(Self::new(Expr::parameter(name, stored_type(ty)?), ty))
    }

    /// An operation. `ty` is the type of its result, `table` that of a lookup, `by` the places of a rotation of elements.
    #[staticmethod]
    #[pyo3(signature = (op, args, ty, table=None, by=0))]
    fn operation(
        op: &str,
        args: Exprs<'_>,
        ty: &Bound<'_, PyString>,
        table: Option<Vec<BigUint>>,
        by: i64,
    ) -> PyResult<Self> {
        let op = checked(operation(op, table, by))?;
        Ok(Self::new(checked(Expr::op(op, exprs(&args), stored_type(ty)?))?, ty))
    }

    /// The results of a program or a circuit, of these types and shapes.
    #[staticmethod]
    fn call(
        callee: PyCallee<'_>,
        args: Exprs<'_>,
        results: Vec<(Bound<'_, PyString>, Vec<usize>)>,
    ) -> PyResult<Vec<Self>> {
        let callee = match callee {
            PyCallee::Program(program) => Callee::Program(Arc::clone(&program.program)),
            PyCallee::Circuit(circuit) => Callee::Circuit(Arc::clone(&circuit.netlist)),
        };
        let of = |(ty, shape): &(Bound<'_, PyString>, Vec<usize>)| {
            Ok(ValueType { ty: stored_type(ty)?, shape: checked(Shape::new(shape.iter().copied()))? })
        };
        let types = results.iter().map(of).collect::<PyResult<Vec<_>>>()?;
        let made = Expr::call(callee, exprs(&args), types).into_iter().zip(&results);
        Ok(made.map(|(expr, (ty, _))| Self::new(expr, ty)).collect())
    }

    /// The last of the values to which elements along the last `axes` dimensions are combined, one of each array.
    #[staticmethod]
    fn reduce(py: Python<'_>, how: PyHow<'_>, arrays: Exprs<'_>, axes: usize) -> PyResult<Option<Self>> {
        let args = exprs(&arrays);
        let (Some(last), Some(first)) = (arrays.last(), args.first()) else { return Ok(None) };
        let outer = first.shape().split(axes).map_or(&[][..], |(outer, _)| outer);
        let shape = checked(Shape::new(outer.iter().copied()))?;
        let axes = if outer.is_empty() { Axes::All } else { Axes::Last(axes as u32) };
        let reduced = match how {
            PyHow::Named(name) => {
                let how: How = serde_json::from_value(name.into())
                    .map_err(|error| Failure::from(solinas_engine::Error::Internal(error.to_string())))?;
                Some(checked(Expr::op(Op::Reduce { how, axes }, args, last.get().expr.ty()))?)
            }
            PyHow::Function(program) => {
                let of = args.iter().map(|arg| ValueType { ty: arg.ty(), shape: shape.clone() }).collect();
                Expr::call(Callee::Reduction(Arc::clone(&program.program), axes), args, of).pop()
            }
        };
        Ok(reduced.map(|expr| last.get().named(py, expr)))
    }

    /// The elements with these flat indices, row by row, in this shape; none if they share ciphertexts that are not computed.
    fn take(&self, py: Python<'_>, indices: Vec<u64>, shape: Vec<usize>) -> PyResult<Option<Self>> {
        let shape = checked(Shape::new(shape))?;
        // A reshape keeps elements in shared ciphertexts where they are.
        let is_whole = !shape.is_empty() && indices.iter().copied().eq(0..self.expr.shape().size() as u64);
        let is_packed = self.expr.ty().modulus().is_some() && !self.expr.shape().is_empty();
        let expr = match self.expr.source().as_deref() {
            // Public values and packed ciphertexts move at once.
            Some(Source::Public(Input::Public(plain))) => {
                let chosen = indices.iter().filter_map(|&index| plain.values.get(index as usize).cloned()).collect();
                let plain = Plain::new(plain.ty, Some(shape.to_vec()), chosen).map_err(Failure::from)?;
                Expr::public(plain.into())
            }
            _ if is_whole || !is_packed => self.expr.elements(indices, shape),
            None => {
                let packed = ciphertext(&self.expr);
                Expr::value(guarded(py, || part(packed, &indices, &shape))?.into())
            }
            Some(_) => return Ok(None),
        };
        Ok(Some(self.named(py, expr)))
    }

    /// Scalars and the elements of arrays, one after the other, as an array of this shape. Those that need no server move at once.
    #[staticmethod]
    fn stack(py: Python<'_>, parts: Exprs<'_>, shape: Vec<usize>) -> PyResult<Option<Self>> {
        let (shape, all) = (checked(Shape::new(shape))?, exprs(&parts));
        let Some(first) = parts.first() else { return Ok(None) };
        let of = ValueType { ty: first.get().expr.ty(), shape };
        let stacked = guarded(py, || {
            if all.iter().any(|part| moves(part).is_none()) {
                return Ok(Expr::stack(all, of));
            }
            let parts: Vec<_> = all.iter().map(settled).collect::<Result<_, _>>()?;
            Ok(Expr::value(joined(parts.into_iter().flatten().collect(), &of.shape)?.into()))
        })?;
        Ok(Some(first.get().named(py, stacked)))
    }

    /// The name of the type.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    /// The sizes of an array; none for a scalar.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let shape = self.expr.shape();
        if shape.is_empty() { Ok(None) } else { PyTuple::new(py, shape.iter()).map(Some) }
    }

    /// Whether it depends on a parameter of a program that is being recorded.
    #[getter]
    fn is_traced(&self) -> bool {
        self.expr.is_open()
    }

    /// Whether it is a ciphertext or only moves elements of ciphertexts, so that no server is needed.
    #[getter]
    fn is_known(&self) -> bool {
        moves(&self.expr).is_some()
    }

    /// Whether it is a public array.
    #[getter]
    fn is_public(&self) -> bool {
        matches!(self.expr.source().as_deref(), Some(Source::Public(_)))
    }

    /// The ciphertext, for which elements move now if that is not done; none if a server is needed.
    fn settle(&self, py: Python<'_>) -> PyResult<Option<PyCiphertext>> {
        Ok(guarded(py, || settled(&self.expr))?.map(PyCiphertext::from))
    }

    /// Keeps the result, and drops the operands, which may hold large ciphertexts.
    fn keep(&self, result: PyRef<'_, PyCiphertext>) {
        self.expr.keep(result.inner.clone().into());
    }

    /// The first expression under the roots that is no operation on these parameters and constants: its name, if it is a parameter, and its type.
    #[staticmethod]
    fn foreign(parameters: Exprs<'_>, roots: Exprs<'_>) -> Option<(Option<String>, String)> {
        let (expr, source) = foreign(&exprs(&parameters), &exprs(&roots))?;
        let name = match source.as_deref() {
            Some(Source::Parameter(name)) => Some(name.clone()),
            _ => None,
        };
        Some((name, expr.ty().to_string()))
    }

    /// The program that computes the roots, with outputs of these names, and the values of its inputs. The parameters, which have none, are its first inputs.
    #[staticmethod]
    fn freeze(
        py: Python<'_>,
        parameters: Exprs<'_>,
        roots: Exprs<'_>,
        names: Vec<String>,
    ) -> PyResult<(Vec<PyInput>, PyProgram)> {
        let (parameters, roots) = (exprs(&parameters), exprs(&roots));
        guarded(py, || {
            let (mut program, inputs) = freeze(&parameters, &roots)?;
            program.outputs.iter_mut().zip(names).for_each(|(output, name)| output.name = name);
            Ok((inputs.into_iter().map(PyInput).collect(), program.into()))
        })
    }
}

/// An input of a program: a ciphertext, or public values.
#[pyclass(module = "solinas._core", name = "Input", frozen)]
pub(crate) struct PyInput(pub(crate) Input);

/// The inputs of a program.
pub(crate) fn owned(all: &[Bound<'_, PyInput>]) -> Vec<Input> {
    all.iter().map(|input| input.get().0.clone()).collect()
}

#[pymethods]
impl PyInput {
    /// The ciphertext, unless the values are public.
    #[getter]
    fn ciphertext(&self) -> Option<PyCiphertext> {
        match &self.0 {
            Input::Encrypted(ciphertext) => Some(ciphertext.clone().into()),
            Input::Public(_) => None,
        }
    }

    /// The shape and the bits of public values.
    #[getter]
    fn public(&self) -> Option<(Vec<usize>, Vec<BigUint>)> {
        match &self.0 {
            Input::Encrypted(_) => None,
            Input::Public(plain) => Some((plain.shape.clone().unwrap_or_default(), numbers(plain.values.clone()))),
        }
    }
}

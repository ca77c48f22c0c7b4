//! Circuits as steps that are decided before anything runs.

use crate::{Error, Program};
use solinas_circuits::program::{Op, places};
use solinas_circuits::{BinaryOp, Gate, Limits, Netlist, NodeId};
use solinas_schemes::slots::rotation_plan::{Layout, RotationPlan};
use std::collections::BTreeMap;

/// Number of a value.
pub(crate) type Value = u32;

/// An operation across the elements of an array, which lie in slots of ciphertexts one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotOperation {
    /// Rotates the elements: element `i` of the result is element `i + by`, modulo their number. Range: `by` in
    /// `1..elements`.
    Rotate { by: usize },
    /// Puts the sum of all elements into every slot of one ciphertext. If `zero_padded`, the slots after the last
    /// element of the operand hold 0.
    InnerSum { zero_padded: bool },
}

/// The content of the slots of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotContent {
    /// All slots hold one number.
    Replicated,
    /// Each slot holds an element. If `zero_padded`, the slots after the last element hold 0.
    Array { zero_padded: bool },
}

/// One step. The number of its value is the number of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArithmeticStep {
    /// The input of this index.
    Input(u32),
    /// A public number.
    Constant(u64),
    /// `x + c`.
    AddConstant(Value, u64),
    /// `c x`.
    MultiplyConstant(Value, u64),
    /// `x + y`.
    Add(Value, Value),
    /// `x - y`.
    Subtract(Value, Value),
    /// `x y`.
    Multiply(Value, Value),
    /// `x y`. The factor `y` is the public input of this index.
    MultiplyPublic(Value, u32),
    /// The same number a level lower.
    DropLevel(Value),
    /// The same number with less noise, by a recryption or a bootstrap.
    Bootstrap(Value),
    /// An operation across the elements of an array, which takes all of its ciphertexts.
    Slots(Value, SlotOperation),
}

impl ArithmeticStep {
    pub(super) fn operands(self) -> impl Iterator<Item = Value> {
        let (count, pair) = match self {
            Self::Input(_) | Self::Constant(_) => (0, [0; 2]),
            Self::AddConstant(x, _)
            | Self::MultiplyConstant(x, _)
            | Self::MultiplyPublic(x, _)
            | Self::DropLevel(x)
            | Self::Bootstrap(x)
            | Self::Slots(x, _) => (1, [x; 2]),
            Self::Add(x, y) | Self::Subtract(x, y) | Self::Multiply(x, y) => (2, [x, y]),
        };
        pair.into_iter().take(count)
    }

    /// The operands of a sum, difference or product. For other steps, the only operand twice.
    pub(super) fn pair(self) -> [Value; 2] {
        let mut operands = self.operands();
        let first = operands.next().unwrap_or_default();
        [first, operands.next().unwrap_or(first)]
    }

    fn map(self, at: impl Fn(Value) -> Value) -> Self {
        match self {
            Self::Input(_) | Self::Constant(_) => self,
            Self::AddConstant(x, c) => Self::AddConstant(at(x), c),
            Self::MultiplyConstant(x, c) => Self::MultiplyConstant(at(x), c),
            Self::Add(x, y) => Self::Add(at(x), at(y)),
            Self::Subtract(x, y) => Self::Subtract(at(x), at(y)),
            Self::Multiply(x, y) => Self::Multiply(at(x), at(y)),
            Self::MultiplyPublic(x, index) => Self::MultiplyPublic(at(x), index),
            Self::DropLevel(x) => Self::DropLevel(at(x)),
            Self::Bootstrap(x) => Self::Bootstrap(at(x)),
            Self::Slots(x, operation) => Self::Slots(at(x), operation),
        }
    }
}

/// Adds the steps of a scheme to a schedule, and follows their noise.
pub(crate) trait Planner {
    fn input(&mut self, index: u32) -> Result<Value, Error>;

    fn constant(&mut self, value: u64) -> Value;

    fn add_constant(&mut self, x: Value, constant: u64) -> Result<Value, Error>;

    fn scale(&mut self, x: Value, constant: u64) -> Result<Value, Error>;

    fn add(&mut self, x: Value, y: Value) -> Result<Value, Error>;

    fn subtract(&mut self, x: Value, y: Value) -> Result<Value, Error>;

    fn multiply(&mut self, x: Value, y: Value) -> Result<Value, Error>;

    fn majority(&mut self, all: [Value; 3]) -> Result<Value, Error>;

    /// Adds an operation across the slots of an array of `elements` elements, with the levels and the noise that it
    /// takes. Bits have no slots.
    ///
    /// # Errors
    /// An error that names the remedy if the key cannot rotate slots, or if the levels do not suffice.
    fn slot_operation(&mut self, _x: Value, operation: SlotOperation, _elements: usize) -> Result<Value, Error> {
        Err(operation.refused())
    }

    /// Tells the planner that `times` gates and outputs read a value.
    fn used(&mut self, value: Value, times: u32);

    /// The negation of a bit.
    fn not(&mut self, x: Value) -> Result<Value, Error> {
        self.add_constant(x, 1)
    }

    /// A gate of two inputs.
    fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Result<Value, Error> {
        use BinaryOp::{And, AndNY, AndYN, Nand, Nor, Or, OrNY, OrYN, Xnor, Xor};
        match op {
            Xor => self.add(x, y),
            And => self.multiply(x, y),
            // x + y + x y.
            Or => {
                let (sum, product) = (self.add(x, y)?, self.multiply(x, y)?);
                self.add(sum, product)
            }
            // y (x + 1) = y + x y, and it has less noise.
            AndNY => {
                let x = self.not(x)?;
                self.multiply(x, y)
            }
            AndYN => self.binary(AndNY, y, x),
            Nand | Nor | Xnor | OrNY | OrYN => {
                let complement = self.binary(op.complement(), x, y)?;
                self.not(complement)
            }
        }
    }
}

impl SlotOperation {
    /// The plan of its rotations, in polynomials of `slots` slots.
    pub(crate) fn rotation_plan(self, slots: usize, elements: usize) -> RotationPlan {
        let layout = Layout::new(slots, elements);
        match self {
            Self::Rotate { by } => RotationPlan::rotation(layout, by),
            Self::InnerSum { zero_padded } => RotationPlan::sum(layout, zero_padded),
        }
    }

    /// The error for values outside of slots. No valid program causes it.
    pub(crate) fn refused(self) -> Error {
        let op = match self {
            Self::Rotate { .. } => "rotate_elements",
            Self::InnerSum { .. } => "sum_elements",
        };
        let expected = "elements of arrays are rotated and summed where they are integers modulo a number, in slots";
        solinas_circuits::Error::OperandTypes { op, at: String::new(), args: "bits".into(), expected }.into()
    }
}

/// The arrays that a program runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrays<'a> {
    /// Number of elements of each array.
    pub(crate) elements: usize,
    /// The content of the slots of each input. Defaults to a zero-padded array.
    pub(crate) inputs: &'a [SlotContent],
}

impl Arrays<'_> {
    pub(crate) fn input(&self, index: u32) -> SlotContent {
        self.inputs.get(index as usize).copied().unwrap_or(SlotContent::Array { zero_padded: true })
    }
}

/// Plans the steps of a valid program that has only integers modulo `p`. Returns the values of its outputs, and the content of their slots.
pub(crate) fn plan_program(
    program: &Program,
    arrays: Arrays<'_>,
    planner: &mut impl Planner,
    limits: &Limits<'_>,
) -> Result<(Vec<Value>, Vec<SlotContent>), Error> {
    let mut values: Vec<(Value, SlotContent)> = Vec::with_capacity(program.nodes.len());
    let is_zero_padded = |slots: SlotContent| matches!(slots, SlotContent::Array { zero_padded: true });
    for (index, node) in program.nodes.iter().enumerate() {
        limits.check_at(index)?;
        let args: Vec<(Value, SlotContent)> = node.args.iter().map(|arg| values[arg.0 as usize]).collect();
        let at = |i: usize| args[i].0;
        let minus_one = u64::from(node.ty.modulus().unwrap_or(2) - 1);
        let array = args.iter().any(|(_, slots)| *slots != SlotContent::Replicated);
        // A sum is zero-padded if all of its terms are. A product is zero-padded if one of its factors is.
        let held = |zero_padded: bool| if array { SlotContent::Array { zero_padded } } else { SlotContent::Replicated };
        let all_padded = args.iter().all(|&(_, slots)| is_zero_padded(slots));
        let sum = held(all_padded);
        values.push(match &node.op {
            Op::Input(index) => (planner.input(*index)?, arrays.input(*index)),
            Op::Const(value) => (planner.constant(value.digit(0, 32).into()), SlotContent::Replicated),
            Op::Neg => (planner.scale(at(0), minus_one)?, sum),
            Op::Add => (planner.add(at(0), at(1))?, sum),
            Op::Sum => {
                let mut terms: Vec<Value> = args.iter().map(|&(term, _)| term).collect();
                while terms.len() > 1 {
                    let pairs = terms.chunks(2).map(|pair| match *pair {
                        [x, y] => planner.add(x, y),
                        _ => Ok(pair[0]),
                    });
                    terms = pairs.collect::<Result<_, _>>()?;
                }
                (terms[0], sum)
            }
            Op::Sub => (planner.subtract(at(0), at(1))?, sum),
            Op::Mul => (planner.multiply(at(0), at(1))?, held(args.iter().any(|&(_, slots)| is_zero_padded(slots)))),
            Op::RotateElements(_) | Op::SumElements if !array => args[0],
            Op::RotateElements(by) => match places(*by, arrays.elements) {
                0 => args[0],
                by => match planner.slot_operation(at(0), SlotOperation::Rotate { by }, arrays.elements)? {
                    // All slots hold equal numbers. The slots without an element do too.
                    same if same == at(0) => args[0],
                    rotated => (rotated, held(true)),
                },
            },
            Op::SumElements => (
                planner.slot_operation(at(0), SlotOperation::InnerSum { zero_padded: all_padded }, arrays.elements)?,
                SlotContent::Replicated,
            ),
            // A valid program of such integers has no other operation.
            other => {
                let (op, args) = (other.name(), node.ty.to_string());
                let expected =
                    "integers modulo a number are added, subtracted, multiplied, negated, rotated and summed";
                return Err(solinas_circuits::Error::OperandTypes { op, at: String::new(), args, expected }.into());
            }
        });
    }
    Ok(program.outputs.iter().map(|output| values[output.value.0 as usize]).unzip())
}

/// Plans the steps of a circuit. Returns the values of its outputs.
pub(crate) fn plan(netlist: &Netlist, planner: &mut impl Planner, limits: &Limits<'_>) -> Result<Vec<Value>, Error> {
    let netlist = netlist.prune();
    let fanout = netlist.fanout();
    let mut nodes: Vec<Value> = Vec::with_capacity(netlist.gates().len());
    for (index, (gate, uses)) in netlist.gates().iter().zip(fanout).enumerate() {
        limits.check_at(index)?;
        let at = |id: NodeId| nodes[id.index()];
        let value = match *gate {
            Gate::Input(index) => planner.input(index)?,
            Gate::Const(bit) => planner.constant(bit.into()),
            Gate::Not(x) => planner.not(at(x))?,
            Gate::Binary(op, x, y) => planner.binary(op, at(x), at(y))?,
            Gate::Xor3([x, y, z]) => {
                let sum = planner.add(at(x), at(y))?;
                planner.add(sum, at(z))?
            }
            Gate::Maj(all) => planner.majority(all.map(at))?,
            Gate::Mux { sel, if_true, if_false } => {
                let differ = planner.add(at(if_true), at(if_false))?;
                let flip = planner.multiply(at(sel), differ)?;
                planner.add(flip, at(if_false))?
            }
        };
        planner.used(value, uses);
        nodes.push(value);
    }
    Ok(netlist.output_nodes().map(|id| nodes[id.index()]).collect())
}

/// Steps in waves. The steps of a wave need the values of earlier waves only.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    pub(crate) steps: Vec<ArithmeticStep>,
    /// Wave of each step.
    pub(crate) waves: Vec<u32>,
    /// Whether each step gives one ciphertext for all lanes.
    pub(crate) shared: Vec<bool>,
    pub(crate) outputs: Vec<Value>,
    /// Number of recryptions or bootstraps.
    pub(crate) bootstraps: u64,
    pub(crate) products: u64,
    pub(crate) level_drops: u64,
    /// Number of recryptions or bootstraps on the longest path.
    pub(crate) depth: u64,
    /// Number of products and level drops on the longest path.
    pub(crate) levels: u64,
}

impl Schedule {
    /// Makes the schedule of the steps that the outputs need, with all inputs. Each input is an array.
    pub(crate) fn new(all: &[ArithmeticStep], outputs: &[Value]) -> Self {
        Self::of_inputs(all, outputs, |_| SlotContent::Array { zero_padded: false })
    }

    /// Makes the schedule of the steps that the outputs need, with all inputs. `slots` returns the content of the slots
    /// of an input.
    pub(crate) fn of_inputs(all: &[ArithmeticStep], outputs: &[Value], slots: impl Fn(u32) -> SlotContent) -> Self {
        let mut live = vec![false; all.len()];
        outputs.iter().for_each(|&output| live[output as usize] = true);
        for (index, step) in all.iter().enumerate().rev().filter(|(_, step)| !matches!(step, ArithmeticStep::Input(_)))
        {
            if live[index] {
                step.operands().for_each(|operand| live[operand as usize] = true);
            }
        }
        let mut place = vec![0; all.len()];
        let (mut steps, mut waves, mut depths, mut levels) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut shared: Vec<bool> = Vec::new();
        let (mut bootstraps, mut products, mut level_drops) = (0, 0, 0);
        for (index, &step) in all.iter().enumerate().filter(|(index, _)| live[*index]) {
            place[index] = steps.len() as Value;
            let step = step.map(|value| place[value as usize]);
            let before = |all: &[u32]| step.operands().map(|operand| all[operand as usize]).max();
            let (wave, depth) = (before(&waves).map_or(0, |wave| wave + 1), before(&depths).unwrap_or(0));
            let level = before(&levels).unwrap_or(0);
            let refresh = matches!(step, ArithmeticStep::Bootstrap(_));
            let (product, drop) =
                (matches!(step, ArithmeticStep::Multiply(..)), matches!(step, ArithmeticStep::DropLevel(_)));
            bootstraps += u64::from(refresh);
            products += u64::from(product);
            level_drops += u64::from(drop);
            shared.push(match step {
                ArithmeticStep::Input(index) => slots(index) == SlotContent::Replicated,
                ArithmeticStep::Slots(_, operation) => matches!(operation, SlotOperation::InnerSum { .. }),
                ArithmeticStep::MultiplyPublic(operand, index) => {
                    shared[operand as usize] && slots(index) == SlotContent::Replicated
                }
                _ => step.operands().all(|operand| shared[operand as usize]),
            });
            waves.push(wave);
            depths.push(depth + u32::from(refresh));
            levels.push(level + u32::from(product || drop));
            steps.push(step);
        }
        let outputs: Vec<Value> = outputs.iter().map(|&output| place[output as usize]).collect();
        let longest = |all: &[u32]| outputs.iter().map(|&output| u64::from(all[output as usize])).max().unwrap_or(0);
        let (depth, levels) = (longest(&depths), longest(&levels));
        Self { steps, waves, shared, outputs, bootstraps, products, level_drops, depth, levels }
    }

    /// Whether a step combines the elements of an array. Such a step needs all instances at once.
    pub(crate) fn crosses(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, ArithmeticStep::Slots(..)))
    }

    /// Number of steps that `counted` accepts, on `lanes` instances.
    pub(crate) fn count(&self, lanes: usize, counted: impl Fn(&ArithmeticStep) -> bool) -> u64 {
        let times = |(step, &shared): (&ArithmeticStep, &bool)| match counted(step) {
            true if shared => 1,
            true => lanes as u64,
            false => 0,
        };
        self.steps.iter().zip(&self.shared).map(times).sum()
    }

    /// Number of batches of the steps that `counted` accepts, on `lanes` instances. A batch has at most `multiply_batch`
    /// steps of one wave.
    pub(crate) fn groups(&self, lanes: usize, multiply_batch: usize, counted: impl Fn(&ArithmeticStep) -> bool) -> u64 {
        let mut waves = BTreeMap::<u32, usize>::new();
        for ((step, &shared), &wave) in self.steps.iter().zip(&self.shared).zip(&self.waves) {
            if counted(step) {
                *waves.entry(wave).or_default() += if shared { 1 } else { lanes };
            }
        }
        waves.values().map(|jobs| jobs.div_ceil(multiply_batch.max(1)) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_of_a_wave() {
        let steps = [
            ArithmeticStep::Input(0),
            ArithmeticStep::Input(1),
            ArithmeticStep::Multiply(0, 1),
            ArithmeticStep::Multiply(2, 1),
            ArithmeticStep::Add(2, 3),
        ];
        let product = |step: &ArithmeticStep| matches!(step, ArithmeticStep::Multiply(..));
        let schedule = Schedule::new(&steps, &[4]);
        for (lanes, multiply_batch, want) in [(40, 16, 6), (32, 16, 4), (1, 16, 2), (40, 1, 80)] {
            assert_eq!(schedule.groups(lanes, multiply_batch, product), want, "{lanes} {multiply_batch}");
        }
        // A step that all lanes share runs once.
        let shared = Schedule::of_inputs(&steps, &[4], |_| SlotContent::Replicated);
        assert_eq!(shared.groups(40, 16, product), 2);
    }
}

//! The steps of a computation.
//!
//! A program on arrays computes each of its operations for every element. So scalars, and arrays of each length, have programs of their own. A step
//! computes one program or circuit; the results of earlier steps are its inputs. The program of an array of values in slots ([`Mod`](crate::Mod))
//! also computes the scalars that depend on the array.

use crate::circuit::Call;
use crate::node::{Kind, Node, topological};
use crate::recorder::{Recorded, Recorder};
use crate::{Control, Error, Estimate, Result, runtime};
use runtime::{Input, Inputs, Prepared, ProgressParts, Server, Work};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// Nodes that one step computes: those of one level and one group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// Elements and stacks, which cost nothing.
    Rearranged,
    /// Values in slots, with the length of the arrays. A sum of the elements of an array, and the scalars that depend on it, are in the
    /// group of the array.
    Slots(Option<usize>),
    Scalars,
    /// Arrays of that length.
    Arrays(usize),
    /// The outputs of the circuit at that address.
    Call(usize),
}

/// The steps of a computation, in order.
pub(crate) struct Plan {
    steps: Vec<Step>,
}

enum Step {
    Rearrange(Vec<Arc<Node>>),
    Program {
        recorded: Recorded,
        /// Length of the array inputs.
        len: Option<usize>,
        planned: OnceLock<Arc<Prepared>>,
    },
    Circuit {
        call: Arc<Call>,
        /// The outputs that the computation needs.
        nodes: Vec<Arc<Node>>,
        planned: OnceLock<Arc<Prepared>>,
    },
}

/// A step that is being made.
enum Draft {
    Program(Recorder),
    Nodes(Vec<Arc<Node>>),
}

fn address<T>(shared: &Arc<T>) -> usize {
    Arc::as_ptr(shared) as usize
}

/// The level and the group of each node that a plan computes.
type Places = HashMap<*const Node, (usize, Group)>;

/// The group of a node that has no result. `places` holds those of its operands.
fn group(node: &Node, places: &Places) -> Result<Group> {
    Ok(match &node.kind {
        Kind::Parameter(number) => return Err(Error::parameter(*number)),
        Kind::Element(..) | Kind::Stack(_) => Group::Rearranged,
        Kind::Output(call, _) => Group::Call(address(call)),
        _ if node.ty.modulus().is_some() => Group::Slots(node.len.or_else(|| array_of_scalar(node, places))),
        _ => node.len.map_or(Group::Scalars, Group::Arrays),
    })
}

/// The length of the arrays that a scalar in slots depends on, if the step of these arrays can compute it.
fn array_of_scalar(node: &Node, places: &Places) -> Option<usize> {
    node.operands().iter().find_map(|operand| match places.get(&Arc::as_ptr(operand)) {
        Some((_, Group::Slots(len))) => *len,
        Some(_) => None,
        None => operand.len,
    })
}

/// Checks that the array operands of an operation have one length.
fn check_lengths(node: &Node) -> Result<()> {
    let mut lengths = node.operands().iter().filter_map(|operand| operand.len);
    let Some(lhs) = lengths.next() else { return Ok(()) };
    match lengths.find(|&rhs| rhs != lhs) {
        Some(rhs) => Err(runtime::Error::Broadcast { lhs, rhs }.into()),
        None => Ok(()),
    }
}

impl Plan {
    /// Plans the computation of these nodes.
    pub(crate) fn new(roots: &[Arc<Node>]) -> Result<Self> {
        let order = topological(roots);
        let is_constant = |node: &Node| matches!(node.kind, Kind::Constant(_));
        let mut places = Places::new();
        let mut needed: HashSet<*const Node> = roots.iter().map(Arc::as_ptr).collect();
        let constants = roots.iter().filter(|root| is_constant(root));
        for constant in constants {
            let group = group(constant, &places)?;
            places.insert(Arc::as_ptr(constant), (0, group));
        }
        for node in &order {
            if node.result().is_some() || is_constant(node) || matches!(node.kind, Kind::Public(_)) {
                continue;
            }
            if let Some(result) = node.rearranged()? {
                node.keep(result);
                continue;
            }
            let group_of_node = group(node, &places)?;
            let in_program = !matches!(group_of_node, Group::Rearranged | Group::Call(_));
            if in_program {
                check_lengths(node)?;
            }
            let mut level = 0;
            for operand in node.operands() {
                if !in_program && is_constant(operand) {
                    let group = group(operand, &places)?;
                    places.insert(Arc::as_ptr(operand), (0, group));
                }
                if let Some((before, other)) = places.get(&Arc::as_ptr(operand)) {
                    level = level.max(before + usize::from(*other != group_of_node));
                }
            }
            let place = (level, group_of_node);
            places.insert(Arc::as_ptr(node), place);
            let computed_before =
                |operand: &&Arc<Node>| places.get(&Arc::as_ptr(operand)).is_some_and(|at| *at != place);
            needed.extend(node.operands().iter().filter(computed_before).map(Arc::as_ptr));
        }
        let mut drafts: BTreeMap<(usize, Group), Draft> = BTreeMap::new();
        for node in &order {
            let Some(place) = places.get(&Arc::as_ptr(node)) else { continue };
            let draft = drafts.entry(*place).or_insert_with(|| match place.1 {
                Group::Rearranged | Group::Call(_) => Draft::Nodes(Vec::new()),
                Group::Slots(_) | Group::Scalars | Group::Arrays(_) => Draft::Program(Recorder::default()),
            });
            match draft {
                Draft::Nodes(nodes) => nodes.push(Arc::clone(node)),
                Draft::Program(recorder) => {
                    recorder.add(node)?;
                    if needed.contains(&Arc::as_ptr(node)) {
                        recorder.output(node)?;
                    }
                }
            }
        }
        let steps = drafts.into_values().map(Step::new).collect::<Result<_>>()?;
        Ok(Self { steps })
    }

    /// The number of steps that take time.
    fn parts(&self) -> usize {
        self.steps.iter().filter(|step| step.computes()).count()
    }

    /// Computes every node and keeps the results in the nodes.
    pub(crate) fn run(&self, server: &Server, control: &Control<'_>) -> Result<()> {
        let (count, mut done) = (self.parts(), 0);
        let parts = ProgressParts::new(control, count);
        for step in &self.steps {
            match count {
                0 | 1 => step.run(server, control)?,
                _ => parts.run(done, |control| step.run(server, control))?,
            }
            done += usize::from(step.computes());
        }
        Ok(())
    }

    /// The sum of the costs of the steps.
    pub(crate) fn total(
        &self,
        server: &Server,
        control: &Control<'_>,
        cost: impl Fn(&Prepared) -> Result<Estimate, runtime::Error>,
    ) -> Result<Estimate> {
        let prepared = self.steps.iter().filter_map(|step| step.prepared(server, control).transpose());
        server.total_cost(prepared.map(|prepared| Ok(cost(&*prepared?)?)))
    }
}

/// The inputs that nodes give, if all of them are known.
fn known<T>(nodes: &[Arc<Node>], input: impl Fn(&Node) -> Option<T>) -> Option<Inputs<T>> {
    nodes.iter().map(|node| input(node)).collect::<Option<Vec<T>>>().map(Inputs::Given)
}

impl Step {
    fn new(draft: Draft) -> Result<Self> {
        match draft {
            Draft::Program(recorder) => {
                let recorded = recorder.finish()?;
                let len = recorded.inputs.iter().find_map(|input| input.len);
                Ok(Self::Program { recorded, len, planned: OnceLock::new() })
            }
            Draft::Nodes(nodes) => Ok(match nodes.first().map(|node| &node.kind) {
                Some(Kind::Output(call, _)) => {
                    Self::Circuit { call: Arc::clone(call), nodes, planned: OnceLock::new() }
                }
                _ => Self::Rearrange(nodes),
            }),
        }
    }

    /// Whether the step takes time.
    const fn computes(&self) -> bool {
        !matches!(self, Self::Rearrange(_))
    }

    /// Plans the step, unless it costs nothing. An input that is not computed yet counts as a fresh ciphertext. Once all inputs are known, the step is planned
    /// for the last time.
    fn prepared(&self, server: &Server, control: &Control<'_>) -> Result<Option<Arc<Prepared>>> {
        let (is_known, work, planned) = match self {
            Self::Rearrange(_) => return Ok(None),
            Self::Program { recorded, len, planned } => {
                let instances = len.unwrap_or(1);
                let inputs = known(&recorded.inputs, |node| match &node.kind {
                    Kind::Public(plain) => Some(plain.clone().into()),
                    _ => node.result().cloned().map(Input::from),
                });
                let is_known = inputs.is_some();
                let inputs = inputs.unwrap_or(Inputs::Fresh { instances });
                (is_known, Work::program(&recorded.program, inputs), planned)
            }
            Self::Circuit { call, planned, .. } => {
                let inputs = known(&call.inputs, |node| node.result().cloned());
                let is_known = inputs.is_some();
                let inputs = inputs.unwrap_or(Inputs::Fresh { instances: 1 });
                (is_known, Work::circuit(&call.netlist, inputs), planned)
            }
        };
        if let Some(planned) = planned.get() {
            return Ok(Some(Arc::clone(planned)));
        }
        let prepared = Arc::new(server.prepare(work, control)?);
        Ok(Some(if is_known { Arc::clone(planned.get_or_init(|| prepared)) } else { prepared }))
    }

    fn run(&self, server: &Server, control: &Control<'_>) -> Result<()> {
        let results = match self.prepared(server, control)? {
            Some(prepared) => prepared.run(control)?,
            None => Vec::new(),
        };
        match self {
            Self::Rearrange(nodes) => {
                for node in nodes {
                    node.keep(node.rearranged()?.ok_or_else(Error::not_computed)?);
                }
            }
            Self::Program { recorded, .. } => {
                recorded.outputs.iter().zip(results).for_each(|(node, result)| node.keep(result));
            }
            Self::Circuit { nodes, .. } => {
                for node in nodes {
                    if let Kind::Output(_, number) = node.kind {
                        node.keep(results[number].clone());
                    }
                }
            }
        }
        Ok(())
    }
}

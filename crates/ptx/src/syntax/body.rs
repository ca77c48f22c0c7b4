//! The names of a kernel that is being read.

use std::collections::BTreeMap;

use super::lexer::Spot;
use super::{Array, Entry, Operand, Symbol, Symbols, Type};
use crate::error::ParseError;

/// Registers of a kernel, at most.
pub(super) const MAX_REGISTERS: usize = 1 << 16;
/// Shared memory of a block, bytes, at most (227 KiB on Hopper).
pub(super) const MAX_SHARED: u32 = 232_448;
/// The first shared address. Hopper keeps 1 KiB for itself, and so a null pointer is invalid.
pub(crate) const SHARED_START: u32 = 1024;
/// Unused bytes between shared arrays, at least. It is a multiple of 128 so that banks stay as they are.
const SHARED_GAP: u32 = 128;

/// Names of registers between braces.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) names: BTreeMap<String, u32>,
    pub(super) parent: Option<usize>,
}

/// A kernel that is being read.
pub(super) struct Body {
    pub(super) entry: Entry,
    pub(super) symbols: Symbols,
    pub(super) scopes: Vec<Scope>,
    /// The open scopes, outermost first.
    pub(super) open: Vec<usize>,
    /// Statement index by scope and name.
    pub(super) labels: BTreeMap<(usize, String), usize>,
    /// Statements with a label to resolve, and their scope.
    pub(super) jumps: Vec<(usize, usize)>,
    pub(super) shared_end: u32,
}

impl Body {
    pub(super) fn declare(&mut self, spot: &Spot, name: String, ty: Type) -> Result<(), ParseError> {
        let register = self.entry.registers.len();
        if register >= MAX_REGISTERS {
            return spot.error(format!("a kernel has at most {MAX_REGISTERS} registers"));
        }
        let scope = self.open[self.open.len() - 1];
        if self.scopes[scope].names.insert(name.clone(), register as u32).is_some() {
            return spot.error(format!("the register {name} is declared twice"));
        }
        self.entry.registers.push(ty);
        Ok(())
    }

    pub(super) fn register(&self, name: &str) -> Option<u32> {
        self.open.iter().rev().find_map(|&scope| self.scopes[scope].names.get(name)).copied()
    }

    pub(super) fn share(&mut self, spot: &Spot, name: String, align: u32, bytes: u32) -> Result<(), ParseError> {
        self.entry.shared_bytes = self.entry.shared_bytes.next_multiple_of(align) + bytes;
        if self.entry.shared_bytes > MAX_SHARED || self.entry.arrays.len() >= 256 {
            return spot.error(format!("a block has at most {MAX_SHARED} bytes of shared memory in 256 arrays"));
        }
        let offset = self.shared_end.next_multiple_of(align.max(SHARED_GAP));
        self.shared_end = offset + bytes + SHARED_GAP;
        self.entry.arrays.push(Array { offset, bytes });
        self.symbols.insert(name, Symbol::Shared(offset));
        Ok(())
    }

    /// Puts dynamic shared memory behind the static arrays.
    pub(super) fn place_dynamic(&mut self, names: &[String]) {
        self.entry.dynamic = self.shared_end.next_multiple_of(1024);
        for name in names {
            self.symbols.insert(name.clone(), Symbol::Shared(self.entry.dynamic));
        }
    }

    /// Resolves labels and dynamic shared arrays.
    pub(super) fn finish(mut self) -> Result<Entry, ParseError> {
        for (index, scope) in std::mem::take(&mut self.jumps) {
            let mut operands = std::mem::take(&mut self.entry.statements[index].operands);
            for operand in &mut operands {
                self.resolve(operand, index, scope)?;
            }
            self.entry.statements[index].operands = operands;
        }
        Ok(self.entry)
    }

    pub(super) fn resolve(&self, operand: &mut Operand, index: usize, scope: usize) -> Result<(), ParseError> {
        match operand {
            Operand::Unresolved(name) => {
                if let Some(&symbol) = self.symbols.get(name) {
                    *operand = Operand::Symbol(symbol);
                    return Ok(());
                }
                let mut at = Some(scope);
                while let Some(scope) = at {
                    if let Some(&target) = self.labels.get(&(scope, name.clone())) {
                        *operand = Operand::Label(target);
                        return Ok(());
                    }
                    at = self.scopes[scope].parent;
                }
                self.entry.statements[index].error(format!("{name} is not declared"))
            }
            Operand::Address(base, _) => self.resolve(base, index, scope),
            _ => Ok(()),
        }
    }
}

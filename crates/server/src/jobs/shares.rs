//! Shares of the memory. They are fixed before a request comes, so that no request can take the memory of others.
//!
//! The budget is three quarters of the memory that is free when the service starts. Prepared keys get a third of it. Two jobs are checked and planned
//! while a third one runs, and each of them may take a quarter. Bodies of requests take a sixteenth.

use crate::error::{Code, Problem};
use crate::id::Tenant;
use crate::lock::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The memory of one job, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobMemory(u64);

impl JobMemory {
    /// That of the settings, or a share of the memory that is free now.
    pub(crate) fn of(setting: Option<u64>) -> Self {
        Self(setting.unwrap_or_else(|| budget() / 4))
    }

    /// For the inputs, as they are in memory.
    pub(crate) const fn inputs(self) -> u64 {
        self.0 / 3
    }

    /// For intermediate values and results.
    pub(crate) const fn run(self) -> u64 {
        self.0 - self.inputs()
    }

    /// For a plan. Two plans of a program are compared, while its inputs are in memory.
    pub(crate) const fn plan(self) -> u64 {
        self.0 / 3
    }
}

fn budget() -> u64 {
    solinas_engine::memory_budget().unwrap_or(1 << 30)
}

/// The bodies of requests in memory, in bytes of each tenant.
#[derive(Debug)]
pub(crate) struct Bodies {
    held: Mutex<BTreeMap<Tenant, u64>>,
    /// The most of all tenants, and of one.
    most: u64,
    most_each: u64,
}

impl Bodies {
    /// `longest` is the most bytes of a body. A tenant may always have one.
    pub(crate) fn new(longest: u64) -> Self {
        let most = (budget() / 16).max(4 * longest);
        Self { held: Mutex::default(), most, most_each: most / 4 }
    }

    /// Takes room for a body, until the result is dropped.
    ///
    /// # Errors
    /// [`Code::Busy`] while other bodies take the room.
    pub(crate) fn take(self: &Arc<Self>, tenant: &Tenant, bytes: u64) -> Result<Body, Problem> {
        let mut held = lock(&self.held);
        let own = held.get(tenant).copied().unwrap_or(0);
        let all = held.values().sum::<u64>();
        if own.saturating_add(bytes) > self.most_each || all.saturating_add(bytes) > self.most {
            let what = "the requests that are being read take the memory that the service has for them";
            return Err(Problem::new(Code::Busy, what, "send fewer requests at a time").retry_after(1.0));
        }
        held.insert(tenant.clone(), own + bytes);
        Ok(Body { bodies: Arc::clone(self), tenant: tenant.clone(), bytes })
    }
}

/// The room of a body.
#[derive(Debug)]
pub(crate) struct Body {
    bodies: Arc<Bodies>,
    tenant: Tenant,
    bytes: u64,
}

impl Drop for Body {
    fn drop(&mut self) {
        let mut held = lock(&self.bodies.held);
        let left = held.get(&self.tenant).map_or(0, |held| held.saturating_sub(self.bytes));
        match left {
            0 => held.remove(&self.tenant),
            left => held.insert(self.tenant.clone(), left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_takes_no_room_from_others_and_gives_it_back() {
        let bodies = Arc::new(Bodies { held: Mutex::default(), most: 16, most_each: 4 });
        let tenant = |number: u32| Tenant::new(&format!("t{number}")).unwrap();
        let first = bodies.take(&tenant(0), 3).unwrap();
        assert!(bodies.take(&tenant(0), 2).is_err_and(|problem| problem.code == Code::Busy));
        let all: Vec<_> = (1..4).map(|number| bodies.take(&tenant(number), 4).unwrap()).collect();
        assert!(bodies.take(&tenant(4), 2).is_err(), "all tenants together have their bound");
        drop(first);
        let last = bodies.take(&tenant(4), 4).unwrap();
        drop((all, last));
        assert_eq!(lock(&bodies.held).len(), 0);
    }

    #[test]
    fn the_parts_of_a_job_are_its_whole() {
        let memory = JobMemory::of(Some(1 << 30));
        assert_eq!(memory.inputs() + memory.run(), 1 << 30);
        assert!(memory.inputs() + 2 * memory.plan() <= 1 << 30);
    }
}

//! Fair shares: the tenant that got the least work goes next.

use crate::id::Tenant;
use std::collections::BTreeMap;

/// The work that each tenant got, in core-milliseconds. A tenant without waiting jobs saves nothing up: when it comes back, it goes next, and then it is
/// level with the one that got the least.
#[derive(Debug, Default)]
pub(crate) struct Shares(BTreeMap<Tenant, i64>);

impl Shares {
    /// The next of the tenants that have jobs.
    pub(crate) fn next(&mut self, ready: &[Tenant]) -> Option<Tenant> {
        let known = ready.iter().filter_map(|tenant| self.0.get(tenant));
        let level = known.min().or(self.0.values().max()).copied().unwrap_or(0);
        self.0.retain(|tenant, _| ready.contains(tenant));
        ready.iter().min_by_key(|tenant| *self.0.entry((*tenant).clone()).or_insert(level.saturating_sub(1))).cloned()
    }

    /// Counts work of a tenant.
    pub(crate) fn count(&mut self, tenant: &Tenant, core_ms: i64) {
        *self.0.entry(tenant.clone()).or_insert(0) += core_ms;
    }

    /// Whether another tenant goes before this one, when this one has got `core_ms` more.
    pub(crate) fn goes_before(&self, tenant: &Tenant, core_ms: i64, ready: &[Tenant]) -> bool {
        let own = self.0.get(tenant).copied().unwrap_or(0).saturating_add(core_ms);
        ready.iter().any(|other| other != tenant && self.0.get(other).is_none_or(|&got| got < own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice;

    #[test]
    fn tenants_get_equal_shares_and_save_nothing_up() {
        let [a, b] = ["a", "b"].map(|name| Tenant::new(name).unwrap());
        let mut shares = Shares::default();
        assert_eq!(shares.next(&[]), None);
        for _ in 0..100 {
            assert_eq!(shares.next(slice::from_ref(&a)), Some(a.clone()));
            shares.count(&a, 10);
        }
        assert!(shares.goes_before(&a, 1, &[a.clone(), b.clone()]));
        assert!(!shares.goes_before(&a, 1, slice::from_ref(&a)));
        let both = [a.clone(), b.clone()];
        let turns: Vec<_> = (0..6)
            .map(|_| {
                let next = shares.next(&both).unwrap();
                shares.count(&next, 10);
                next
            })
            .collect();
        assert_eq!(turns.iter().filter(|&next| *next == b).count(), 3, "b starts level with a");
    }
}

//! Workers: they compute leased jobs, in the process of the service or on other machines.

pub(crate) mod job;
pub(crate) mod local;
pub(crate) mod remote;
pub(crate) mod run;

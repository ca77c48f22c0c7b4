//! Transforms of long digit sequences in complex doubles, exact by a proven error bound.

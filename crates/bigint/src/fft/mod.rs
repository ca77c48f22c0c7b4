//! Products by transforms: plans, spectra, engines.

-f multiplier/files.f
gh/sol_gh_pkg.sv
gh/sol_gh.sv
gh/sol_gh_candidates.sv
gh/sol_gh_compare.sv
gh/sol_gh_registers.sv
gh/sol_gh_sequencer.sv
gh/sol_gh_sink.sv
gh/sol_gh_sum.sv

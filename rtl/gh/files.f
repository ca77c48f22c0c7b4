gh/sol_gh_pkg.sv

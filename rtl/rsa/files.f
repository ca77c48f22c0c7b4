-f common/files.f
rsa/sol_rsa_pkg.sv
rsa/sol_rsa_dft8.sv
rsa/sol_rsa_kernel.sv
rsa/sol_rsa_inverse.sv
rsa/sol_rsa_local.sv
rsa/sol_rsa_carry.sv
rsa/sol_rsa_window.sv
rsa/sol_rsa_exponent.sv

-f common/files.f
multiplier/sol_mul_pkg.sv
multiplier/sol_mul_addresses.sv
multiplier/sol_mul_control.sv
multiplier/sol_mul_loader.sv
multiplier/sol_mul_memory.sv
multiplier/sol_mul_turn.sv
multiplier/sol_mul_twiddles.sv
multiplier/sol_mul_unload.sv
multiplier/sol_multiplier.sv

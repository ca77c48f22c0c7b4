-f multiplier/files.f
stored/sol_sto_pkg.sv
stored/sol_sto_control.sv
stored/sol_sto_addresses.sv
stored/sol_sto_carry.sv
stored/sol_sto_rom.sv
stored/sol_sto_twiddles.sv
stored/sol_sto_constants.sv
stored/sol_stored.sv

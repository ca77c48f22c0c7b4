// The spectra of N' and N for each modulus. Their words lie in the order of a second step.
// Latency of a read: LAT_RAM.
module sol_rsa_spectra import sol_rsa_pkg::*; (
  input  logic clk_i, half_i,
  input  a_control_t read_i, output logic [7:0][63:0] factor_o,     // N' or N
  input  a_control_t write_i, input logic [7:0][63:0] data_i);
  /* verilator no_inline_module */

  function automatic logic [5:0] address(logic half, logic thread, logic [5:0] count);
    return half ? {thread, count[4:0]} : count;
  endfunction
  logic negative; logic [7:0][63:0] inverse, modulus;
  always_ff @(posedge clk_i) negative <= is_negative(read_i.pass);
  assign factor_o = negative ? modulus : inverse;
  sol_bank #(.LOG_WORDS(6), .W(512)) u_inverse (.clk_i, .re_i(read_i.pass == A_PT), .ra_i(address(half_i, read_i.thread, read_i.count)), .rd_o(inverse),
    .we_i(write_i.pass == A_KC), .wa_i(address(half_i, write_i.thread, write_i.count)), .wd_i(data_i));
  sol_bank #(.LOG_WORDS(6), .W(512)) u_modulus (.clk_i, .re_i(read_i.pass == A_PM), .ra_i(address(half_i, read_i.thread, read_i.count)), .rd_o(modulus),
    .we_i(write_i.pass == A_KN), .wa_i(address(half_i, write_i.thread, write_i.count)), .wd_i(data_i));
  wire unused = ^{read_i.second, read_i.one, read_i.index, write_i.second,
                  write_i.one, write_i.index};
endmodule

// Six half arrays of 16 banks. All arrays read the same addresses, one for each bank, except the arrays of the unload:
// Y0 and Z1. Two write networks write one array each.
module sol_mul_memory import sol_mul_pkg::*; #(parameter int LOG_WORDS = 10) (
  input  logic clk_i,
  input  logic [15:0][LOG_WORDS-1:0] read_addr_i,
  input  logic [ARRAYS-1:0] unload_owns_i, input logic unload_step_i, input logic [15:0][LOG_WORDS-1:0] unload_addr_i,
  output logic [15:0][63:0] read_data_o [ARRAYS],
  input  logic [ARRAYS-1:0] write_i [2], input logic [15:0][LOG_WORDS-1:0] write_addr_i [2], input logic [15:0][63:0] write_data_i [2]);

  for (genvar a = 0; a < ARRAYS; a++) begin : g_array
    wire net = write_i[1][a];
    wire read = !unload_owns_i[a] | unload_step_i;
    for (genvar b = 0; b < 16; b++) begin : g_bank
      sol_bank #(.LOG_WORDS(LOG_WORDS)) u_bank (.clk_i, .re_i(read),
        .ra_i(unload_owns_i[a] ? unload_addr_i[b] : read_addr_i[b]), .rd_o(read_data_o[a][b]),
        .we_i(write_i[0][a] | write_i[1][a]), .wa_i(net ? write_addr_i[1][b] : write_addr_i[0][b]),
        .wd_i(net ? write_data_i[1][b] : write_data_i[0][b]));
    end
  end
endmodule

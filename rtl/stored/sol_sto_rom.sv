// 32 rows of 32 powers of ROOT: entry i of a row is ROOT^(row + 32 i). Latency: LAT_ROM = 1.
module sol_sto_rom import sol_pkg::*; (
  input  logic clk_i,
  input  logic [4:0] row_i,
  output logic [31:0][63:0] row_o);
  /* verilator no_inline_module */

  logic [31:0][63:0] rows [32];
  initial begin
    logic [63:0] power;
    power = 64'd1;
    for (int i = 0; i < 1024; i++) begin
      rows[i % 32][i / 32] = power;
      power = 64'((128'(power) * 128'(ROOT)) % 128'(P));
    end
  end
  always_ff @(posedge clk_i) row_o <= rows[row_i];
endmodule

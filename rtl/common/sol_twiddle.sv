// Twiddle factors of 16 lanes: ROOT^e as an entry of a table of 1024 and a rotation count, since ROOT^1024 = 8.
// Latency: LAT_ROM = 1.
module sol_twiddle import sol_pkg::*; (
  input  logic clk_i,
  input  logic [15:0][15:0] e_i,
  output logic [15:0][63:0] w_o,
  output logic [15:0][5:0]  rot_o);
  /* verilator no_inline_module */

  logic [63:0] table_rom [1024];
  initial begin
    logic [63:0] power;
    power = 64'd1;
    for (int i = 0; i < 1024; i++) begin
      table_rom[i] = power;
      power = 64'((128'(power) * 128'(ROOT)) % 128'(P));
    end
  end
  for (genvar l = 0; l < 16; l++) begin : g_lane
    always_ff @(posedge clk_i) begin
      w_o[l] <= table_rom[e_i[l][9:0]];
      rot_o[l] <= e_i[l][15:10];
    end
  end
endmodule

// Twiddle factors of the 16 multipliers behind a kernel D, from one table with a wide port.
//
// The exponents of the lanes of a pass differ by multiples of 32: P1 has w^(32 k1 m2), P2 w^(k1 j2 + 64 k2 j2), IP2
// w^(-k1 j2 - 32 k1 m2). (The factor w^(k1 j2), which sol_multiplier takes in P1, is taken in P2.) So a row of 32 entries,
// w^(row + 32 i), has the factors of all lanes; a rotation does the rest, since w^1024 = 8. The small instance has w^(32 k1 j2)
// and its inverse. Latency: 1.
module sol_sto_twiddles import sol_pkg::*; import sol_sto_pkg::*; #(parameter bit BIG = 1'b1) (
  input  logic clk_i,
  input  control_t control_i,                   // one cycle before the multipliers
  output logic [15:0][63:0] factor_o, output logic [15:0][5:0] rot_o);
  /* verilator no_inline_module */

  // The exponent that the lanes have in common, and the multiple of 32 of each lane.
  wire [5:0] k1 = {control_i.count[10:6], control_i.round};
  wire [10:0] base = 11'(k1) * 11'(control_i.count[5:1]);
  wire [15:0] common = !BIG | control_i.pass == P1 ? 16'd0 : control_i.pass == P2 ? 16'(base) : -16'(base);
  logic [31:0][63:0] row; logic [15:0][10:0] i_q; logic [15:0][10:0] i_now;
  for (genvar l = 0; l < 16; l++) begin : g_exponent
    wire [4:0] k = {control_i.count[0], 4'(l)};
    wire [10:0] multiple = control_i.pass == P1 ? 11'({k, control_i.round}) * 11'(BIG ? control_i.count[10:6] : control_i.count[5:1])
                         : control_i.pass == P2 ? 11'(k) * 11'(control_i.count[5:1]) << 1 : -(11'(k1) * 11'(k));
    assign i_now[l] = common[15:5] + multiple;
  end
  sol_sto_rom u_rom (.clk_i, .row_i(common[4:0]), .row_o(row));
  always_ff @(posedge clk_i) i_q <= i_now;
  // The lowest bit of the entry is the same for all even lanes and for all odd lanes.
  logic [15:0][63:0] half [2];
  for (genvar h = 0; h < 2; h++) begin : g_half
    for (genvar t = 0; t < 16; t++) begin : g_entry assign half[h][t] = row[{4'(t), i_q[h][0]}]; end
  end
  for (genvar l = 0; l < 16; l++) begin : g_lane
    assign factor_o[l] = half[l % 2][i_q[l][4:1]];
    assign rot_o[l] = i_q[l][10:5];
  end
  wire unused = ^{control_i.count[11], base};
endmodule

// Twiddle factors of both sets of multipliers. The exponents are those of the transform of length 2^LOG_N: products of the
// indices of a pass, times 2^(16-LOG_N) for the table of order 65,536. Latency: LAT_ROM, from controls to factors.
module sol_mul_twiddles import sol_pkg::*; import sol_mul_pkg::*; #(parameter bit BIG = 1'b1) (
  input  logic clk_i,
  input  control_t early_i,                     // behind the kernels D, LAT_ROM cycles before the multipliers
  input  control_t late_i,                      // behind kernel S, the same
  output logic [1:0][15:0][63:0] factor_o, output logic [1:0][15:0][5:0] rot_o);

  logic [1:0][15:0][15:0] e;
  for (genvar l = 0; l < 16; l++) begin : g_lane
    wire [4:0] k = {early_i.count[0], 4'(l)};
    wire [4:0] j = {4'(l), late_i.count[0]};
    // P1: w^(k1 j), k1 = 2 k + round, j the column.
    wire [15:0] columns = BIG ? 16'({k, early_i.round}) * 16'(early_i.count[10:1])
                              : 16'({k, early_i.round}) * 16'(early_i.count[5:1]) << 5;
    // P2: w^(64 k2 j2).
    wire [15:0] rows = 16'(k) * 16'(early_i.count[5:1]) << 6;
    // IP2: w^(-k1 j), j = 32 m2 + j2: kernel A has even j2, kernel B odd j2.
    wire [15:0] even = -(16'({early_i.count[9:5], early_i.round}) * 16'({k, early_i.count[4:1], 1'b0}));
    wire [15:0] odd = -(16'({early_i.count[9:5], early_i.round}) * 16'({k, early_i.count[4:1], 1'b1}));
    // P3: w^(-64 k2 j2), or w^(-32 k1 j2) of the small instance.
    wire [15:0] middle = BIG ? -(16'(late_i.count[5:1]) * 16'(j) << 6) : -(16'({late_i.count[5:1], late_i.round}) * 16'(j) << 5);
    assign e[0][l] = early_i.pass == P1 ? columns : early_i.pass == P2 ? rows : even;
    assign e[1][l] = late_i.pass == P3 ? middle : early_i.pass == P1 ? columns : early_i.pass == P2 ? rows : odd;
  end
  for (genvar c = 0; c < 2; c++) begin : g_table
    sol_twiddle u_twiddle (.clk_i, .e_i(e[c]), .w_o(factor_o[c]), .rot_o(rot_o[c]));
  end
endmodule

// Twiddle factors of both sets of multipliers. The exponents are those of the transform of length 2^LOG_N: products of the
// indices of a pass, times 2^(16-LOG_N) for the table of order 65,536. Latency: LAT_ROM, from controls to factors.
module sol_mul_twiddles import sol_pkg::*; import sol_mul_pkg::*; #(parameter bit BIG = 1'b1) (
  input  logic clk_i,
  input  control_t early_i,                     // behind the kernels D, LAT_ROM cycles before the multipliers
  input  control_t late_i,                      // behind kernel S, the same
  output logic [15:0][63:0] factor_o [2], output logic [15:0][5:0] rot_o [2]);

  logic [15:0][15:0] e [2];
  always_comb for (int l = 0; l < 16; l++) begin
    automatic logic [4:0] k = {early_i.count[0], 4'(l)};
    automatic logic [4:0] j = {4'(l), late_i.count[0]};
    unique case (early_i.pass)
      // w^(k1 j): k1 = 2 k + round, j the column.
      P1:      begin e[0][l] = BIG ? 16'({k, early_i.round}) * 16'(early_i.count[10:1])
                                   : 16'({k, early_i.round}) * 16'(early_i.count[5:1]) << 5; e[1][l] = e[0][l]; end
      // w^(64 k2 j2).
      P2:      begin e[0][l] = 16'(k) * 16'(early_i.count[5:1]) << 6; e[1][l] = e[0][l]; end
      // w^(-k1 j), j = 32 m2 + j2: kernel A has even j2, kernel B odd j2.
      default: begin
        e[0][l] = -(16'({early_i.count[9:5], early_i.round}) * 16'({k, early_i.count[4:1], 1'b0}));
        e[1][l] = -(16'({early_i.count[9:5], early_i.round}) * 16'({k, early_i.count[4:1], 1'b1}));
      end
    endcase
    // w^(-64 k2 j2), or w^(-32 k1 j2) of the small instance.
    if (late_i.pass == P3)
      e[1][l] = BIG ? -(16'(late_i.count[5:1]) * 16'(j) << 6) : -(16'({late_i.count[5:1], late_i.round}) * 16'(j) << 5);
  end
  for (genvar c = 0; c < 2; c++) begin : g_table
    sol_twiddle u_twiddle (.clk_i, .e_i(e[c]), .w_o(factor_o[c]), .rot_o(rot_o[c]));
  end
endmodule

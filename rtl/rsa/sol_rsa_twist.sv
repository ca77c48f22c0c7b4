// Digits to residues. Modulo 2^n + 1, the digit of row (R/8) l + t is turned by the root of that row, a power of two.
//
// Whole moduli turn row m by 2^(3 m), halves by 2^(6 m): both give 12 l + {0, 3, 6, 9} bits in lane l.
// Range: signed digits of W bits, W at most 27. Output: residues. Latency: 1 + LAT_NORM.
module sol_rsa_twist #(parameter int W = 19) (
  input  logic clk_i, half_i,
  input  logic negative_i,                     // modulo 2^n + 1, for the data of the cycle before
  input  logic [1:0] step_i,                   // step, for the data of the cycle before
  input  logic [7:0][W-1:0] digits_i,
  output logic [7:0][63:0] x_o);
  /* verilator no_inline_module */

  wire [1:0] turn = half_i ? {step_i[0], 1'b0} : step_i;
  for (genvar l = 0; l < 8; l++) begin : g_lane
    // A digit below 0 plus p: p = (2^32 - 1) 2^32 + 1.
    logic [63:0] x;
    wire [31:0] low = 32'($signed(digits_i[l]));
    wire negative = low[31];
    wire minus_one = &low;
    always_ff @(posedge clk_i) x <= {{31{negative}}, negative & minus_one, negative ? low + 32'd1 : low};
    logic [191:0] z; logic signed [67:0] s;
    sol_rotmux #(.S0(12 * l), .STEP(3)) u_rot (.x_i(x), .k_i(turn), .z_o(z));
    sol_fold192 u_fold (.z_i(z), .s_o(s));
    sol_norm #(.W(68)) u_norm (.clk_i, .s_i(negative_i ? s : $signed({4'b0, x})), .r_o(x_o[l]));
  end
endmodule

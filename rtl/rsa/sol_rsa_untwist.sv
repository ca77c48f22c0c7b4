// Undoes the turn of sol_rsa_twist for rows l + 8 s, and makes the residues canonical. Latency: TO_CARRY.
module sol_rsa_untwist import sol_rsa_pkg::*; (
  input  logic clk_i, half_i, negative_i,
  input  logic [1:0] step_i,
  input  logic [7:0][63:0] x_i,
  output logic [7:0][63:0] x_o);
  /* verilator no_inline_module */

  for (genvar l = 0; l < 8; l++) begin : g_lane
    // 2^(-3 (l + 8 s)), or 2^(-6 (l + 8 s)) for halves.
    logic [191:0] whole, half; logic signed [67:0] s, s1; logic [63:0] r, canonical;
    sol_rotmux #(.S0((192 - 3 * l) % 192), .STEP(168)) u_whole (.x_i(x_i[l]), .k_i(step_i), .z_o(whole));
    sol_rotmux #(.S0((192 - 6 * l) % 192), .STEP(144)) u_half (.x_i(x_i[l]), .k_i({1'b0, step_i[0]}), .z_o(half));
    sol_fold192 u_fold (.z_i(half_i ? half : whole), .s_o(s));
    always_ff @(posedge clk_i) s1 <= negative_i ? s : $signed({4'b0, x_i[l]});
    sol_norm #(.W(68)) u_norm (.clk_i, .s_i(s1), .r_o(r));
    sol_canon u_canon (.x_i(r), .r_o(canonical));
    always_ff @(posedge clk_i) x_o[l] <= canonical;
  end
endmodule

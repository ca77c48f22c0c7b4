// Inverse transform of 32 points, 16 a cycle ("2, then 16"), times 2^-SCALE, by shifts.
//
// Input: lane l of step t holds point k = l + 16 t. Output: lane l of step s holds j = s + 2 l. The input order is the output
// order of sol_kernel_d, so no buffer lies between them. Both steps of a group follow each other, and so do its outputs.
// Range: residues in and out. Latency of the first output: LAT_S = 11.
module sol_kernel_s #(parameter int SCALE = 16) (
  input  logic clk_i,
  input  logic step_i,
  input  logic [15:0][63:0] x_i,
  output logic [15:0][63:0] y_o);
  /* verilator no_inline_module */

  localparam int S0 = 192 - SCALE;
  if (SCALE < 0 || SCALE > 191) begin : g_check $fatal(1, "sol_kernel_s: SCALE = %0d is not in 0..191", SCALE); end
  logic out_step; logic [15:0][63:0] u, y;
  always_ff @(posedge clk_i) out_step <= !step_i;
  for (genvar l = 0; l < 16; l++) begin : g_lane
    logic [63:0] x0, h0, h1;
    always_ff @(posedge clk_i) begin
      if (!step_i) x0 <= x_i[l];
      if (step_i) begin h0 <= x0; h1 <= x_i[l]; end
    end
    // Step s takes (h0 + (-1)^s h1) 2^(-6 l s): the root of order 32 is 2^6, and -1 = 2^96.
    logic [191:0] z0, z1; logic signed [67:0] f0, f1; logic signed [69:0] sum;
    sol_rotmux #(.S0(S0), .STEP((192 - 6*l) % 192))      u_rot0 (.x_i(h0), .k_i({1'b0, out_step}), .z_o(z0));
    sol_rotmux #(.S0(S0), .STEP((96 + 192 - 6*l) % 192)) u_rot1 (.x_i(h1), .k_i({1'b0, out_step}), .z_o(z1));
    sol_fold192 u_fold0 (.z_i(z0), .s_o(f0));
    sol_fold192 u_fold1 (.z_i(z1), .s_o(f1));
    always_ff @(posedge clk_i) sum <= 70'(f0) + 70'(f1);
    sol_norm #(.W(70)) u_norm (.clk_i, .s_i(sum), .r_o(u[l]));
    assign y_o[l] = y[(16 - l) % 16];
  end
  sol_dft16 u_dft (.clk_i, .x_i(u), .y_o(y));
endmodule

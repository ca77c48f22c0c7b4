// Transform of 16 or 32 points, 8 a cycle ("8, then 2 or 4"), by shifts. The root is 2^(192/R).
//
// This is sol_kernel_d at half its width. Input: lane l of step t holds point (R/8) l + t. Output: lane l of step s holds
// k = l + 8 s. With `inv_i` the root is the inverse, without scaling: lane l leaves through lane -l, and the steps go backwards.
//
// The steps of a group follow each other without a gap, and so do its outputs. Groups may follow at once, except that a
// group of 16 points leaves two idle cycles behind a group of 32. Range: residues in and out.
// Latency of the first output: LAT_K16 = 10 or LAT_K32 = 12.
module sol_rsa_kernel import sol_pkg::*; import sol_rsa_pkg::*; (
  input  logic clk_i,
  input  logic valid_i,
  input  logic [1:0] step_i,
  input  logic r32_i, inv_i,
  input  logic [7:0][63:0] x_i,
  output logic [7:0][63:0] y_o);
  /* verilator no_inline_module */

  typedef struct packed { logic valid; logic [1:0] step; logic r32, inv; } control_t;
  control_t pipe [LAT_DFT8];
  logic [7:0][63:0] y;
  sol_rsa_dft8 u_dft (.clk_i, .x_i, .y_o(y));
  always_ff @(posedge clk_i) begin
    pipe[0] <= {valid_i, step_i, r32_i, inv_i};
    for (int i = 1; i < LAT_DFT8; i++) pipe[i] <= pipe[i-1];
  end

  // `now` belongs to y. The last step of a group loads the second stage, which then counts its own steps.
  wire control_t now = pipe[LAT_DFT8-1];
  wire last = now.valid & (now.r32 ? now.step == 2'd3 : now.step[0]);
  logic [1:0] out_step; logic inverse; logic inverse_pipe [1 + LAT_NORM];
  always_ff @(posedge clk_i) begin
    out_step <= last ? 2'd0 : out_step + 2'd1;
    if (last) inverse <= now.inv;
    inverse_pipe[0] <= inverse;
    for (int i = 1; i <= LAT_NORM; i++) inverse_pipe[i] <= inverse_pipe[i-1];
  end

  logic [7:0][63:0] result;
  for (genvar l = 0; l < 8; l++) begin : g_lane
    logic [63:0] y0, y1, y2, h0, h1, h2, h3;
    always_ff @(posedge clk_i) begin
      if (now.step == 2'd0) y0 <= y[l];
      if (now.step == 2'd1) y1 <= y[l];
      if (now.step == 2'd2) y2 <= y[l];
      if (last) begin
        h0 <= y0;
        h1 <= now.r32 ? y1 : 64'd0;
        h2 <= now.r32 ? y2 : y[l];
        h3 <= now.r32 ? y[l] : 64'd0;
      end
    end
    wire [1:0] turn = !inverse ? out_step : l == 0 ? -out_step : ~out_step;
    logic [191:0] z1, z2, z3;
    sol_rotmux #(.S0(6*l),  .STEP(48))  u_rot1 (.x_i(h1), .k_i(turn), .z_o(z1));
    sol_rotmux #(.S0(12*l), .STEP(96))  u_rot2 (.x_i(h2), .k_i({1'b0, turn[0]}), .z_o(z2));
    sol_rotmux #(.S0(18*l), .STEP(144)) u_rot3 (.x_i(h3), .k_i(turn), .z_o(z3));
    logic signed [67:0] f1, f2, f3;
    sol_fold192 u_fold1 (.z_i(z1), .s_o(f1));
    sol_fold192 u_fold2 (.z_i(z2), .s_o(f2));
    sol_fold192 u_fold3 (.z_i(z3), .s_o(f3));
    logic signed [69:0] sum;
    always_ff @(posedge clk_i) sum <= $signed({6'b0, h0}) + 70'(f1) + 70'(f2) + 70'(f3);
    sol_norm #(.W(70)) u_norm (.clk_i, .s_i(sum), .r_o(result[l]));
    assign y_o[l] = inverse_pipe[LAT_NORM] ? result[(8 - l) % 8] : result[l];
  end
endmodule

// One local carry step: c[n] -> (c[n] mod 2^W) + (c[n-1] >> W mod 2^W) + (c[n-2] >> 2W), modulo 2^n - 1 or 2^n + 1.
//
// Digit n = 16 m + j lies in row m = l + 8 s of column j. A column takes STEPS cycles, 4 or for halves 2: step s carries its rows
// in lane l. Columns follow each other, so the digit below comes from the same lane STEPS cycles ago. At column 0 it is in the row below,
// which is one lane lower, and below lane 0 it is lane 7 of the step before. Row 0 takes row 8 STEPS - 1, with a minus
// modulo 2^n + 1. No carry runs further than two digits.
//
// Range: any signed input of WI bits. Output: signed, WO bits. Latency: 1. Throughput: 8 digits a cycle.
module sol_rsa_local #(parameter int W = 17, parameter int WI = 64, parameter int WO = 32) (
  input  logic clk_i,
  input  logic half_i,     // STEPS is 2
  input  logic first_i,    // the column is column 0
  input  logic second_i,   // the column is column 1
  input  logic step0_i,    // step 0 of a column
  input  logic minus_i,    // modulo 2^n + 1
  input  logic signed [7:0][WI-1:0] c_i,
  output logic signed [7:0][WO-1:0] d_o);

  localparam int H = WI - 2*W;
  localparam int DEPTH = 9;
  if (W < 2 || H < 1) begin : g_check_width $fatal(1, "sol_rsa_local: WI = %0d has no third digit of W = %0d", WI, W); end
  if (WO < W + (H == 1 ? 2 : 3) || WO < H + 2) begin : g_check_out $fatal(1, "sol_rsa_local: WO = %0d is too narrow", WO); end

  // `mid[i]` and `top[i]` are the upper digits of the input i cycles ago.
  logic [7:0][W-1:0] mid [1:5], mid_now;
  logic [7:0][H-1:0] top [1:DEPTH], top_now;
  for (genvar l = 0; l < 8; l++) begin : g_split
    assign mid_now[l] = c_i[l][W +: W];
    assign top_now[l] = c_i[l][2*W +: H];
  end
  always_ff @(posedge clk_i) begin mid[1] <= mid_now; top[1] <= top_now; end
  for (genvar i = 2; i <= 5; i++) begin : g_mid always_ff @(posedge clk_i) mid[i] <= mid[i-1]; end
  for (genvar i = 2; i <= DEPTH; i++) begin : g_top always_ff @(posedge clk_i) top[i] <= top[i-1]; end
  for (genvar l = 0; l < 8; l++) begin : g_lane
    wire negate = (l == 0) & step0_i & minus_i;
    wire [W-1:0] mid_left = half_i ? mid[2][l] : mid[4][l];
    wire [H-1:0] top_left = half_i ? top[4][l] : top[8][l];
    wire [W-1:0] mid_below = l > 0 ? (half_i ? mid[2][(l+7) % 8] : mid[4][(l+7) % 8])
                           : step0_i ? mid[1][7] : half_i ? mid[3][7] : mid[5][7];
    wire [H-1:0] top_below = l > 0 ? (half_i ? top[4][(l+7) % 8] : top[8][(l+7) % 8])
                           : step0_i ? (half_i ? top[3][7] : top[5][7]) : half_i ? top[5][7] : top[9][7];
    wire signed [WO-1:0] low = $signed({{(WO-W){1'b0}}, c_i[l][W-1:0]});
    wire signed [WO-1:0] one = $signed({{(WO-W){1'b0}}, first_i ? mid_below : mid_left});
    wire [H-1:0] two_bits = (first_i | second_i) ? top_below : top_left;
    wire signed [WO-1:0] two = WO'($signed(two_bits));
    always_ff @(posedge clk_i)
      d_o[l] <= low + (first_i & negate ? -one : one) + ((first_i | second_i) & negate ? -two : two);
  end
endmodule

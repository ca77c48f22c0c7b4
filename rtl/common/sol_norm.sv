// A signed sum to a residue: r = s (mod p), r < 2^64, not canonical.
//
// The bits above the 64th stand for t 2^64 = t (2^32 - 1). Their product is added to the lower bits. The result lies within
// 2^40 of [0, 2^64), so one more fold of -1, 0 or 1 suffices. Proved for all inputs: rtl/tools/prove.py.
//
// Range: |s| < 2^(W-1), W at most 72. Latency: LAT_NORM = 2. Throughput: one a cycle.
module sol_norm #(parameter int W = 70) (
  input  logic clk_i,
  input  logic signed [W-1:0] s_i,
  output logic [63:0] r_o);

  localparam int H = W - 64;
  if (W < 66 || W > 72) begin : g_check $fatal(1, "sol_norm: W = %0d is not in 66..72", W); end
  wire signed [H-1:0] t = s_i[W-1:64];
  logic signed [66:0] u;
  always_ff @(posedge clk_i)
    u <= $signed({3'b0, s_i[63:0]}) + $signed({{(35-H){t[H-1]}}, t, 32'b0}) - $signed({{(67-H){t[H-1]}}, t});

  wire below = u[66];
  wire above = !u[66] & u[64];
  always_ff @(posedge clk_i)
    r_o <= u[63:0] + (above ? 64'h0000_0000_FFFF_FFFF : below ? 64'hFFFF_FFFF_0000_0001 : 64'h0);
  wire unused = u[65];
endmodule

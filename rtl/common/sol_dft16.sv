// 16-point transform by wiring and adders: y[k] = sum_n x[n] 2^(12 n k) mod p.
//
// Stage 2 forms x[n] +- x[n+8]. Every term is then folded from its rotated place in 192 bits to 64 bits by constants
// before the sum, so the only carry chains have 72 bits (wang2014 5.3 sums at 192 bits).
//
// Range: residues in and out. Latency: LAT_DFT16 = 6. Throughput: 16 points a cycle.
module sol_dft16 (
  input  logic clk_i,
  input  logic [15:0][63:0] x_i,
  output logic [15:0][63:0] y_o);

  logic [15:0][63:0] x1;
  logic [7:0][65:0] sum2, difference2;
  always_ff @(posedge clk_i) x1 <= x_i;
  for (genvar n = 0; n < 8; n++) begin : g_pair
    always_ff @(posedge clk_i) begin
      sum2[n] <= {2'b0, x1[n]} + {2'b0, x1[n+8]};
      difference2[n] <= {2'b0, x1[n]} - {2'b0, x1[n+8]} + 66'h1_FFFF_FFFE_0000_0002;    // + 2 p
    end
  end
  for (genvar k = 0; k < 16; k++) begin : g_lane
    logic signed [71:0] term [8];
    logic signed [71:0] half3 [2];
    logic signed [71:0] sum4;
    for (genvar n = 0; n < 8; n++) begin : g_term
      localparam int S = (12 * n * k) % 192;
      wire [65:0] v = (k % 2 == 0) ? sum2[n] : difference2[n];
      wire [383:0] w = {318'b0, v} << S;
      wire [191:0] z = w[191:0] | w[383:192];
      assign term[n] = $signed({8'b0, z[63:0]}) + $signed({8'b0, z[95:64], z[191:160]})
                     - $signed({8'b0, z[159:96]}) - $signed({8'b0, z[191:160], z[95:64]});
    end
    always_ff @(posedge clk_i) begin
      half3[0] <= (term[0] + term[1]) + (term[2] + term[3]);
      half3[1] <= (term[4] + term[5]) + (term[6] + term[7]);
      sum4 <= half3[0] + half3[1];
    end
    sol_norm #(.W(72)) u_norm (.clk_i, .s_i(sum4), .r_o(y_o[k]));
  end
endmodule

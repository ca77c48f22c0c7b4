// 8-point transform by wiring and adders: y[k] = sum_n x[n] 2^(24 n k) mod p.
//
// The method is that of sol_dft16: x[n] +- x[n+4], a fold of each term from its rotated place to 64 bits, one sum.
//
// Range: residues in and out. Latency: LAT_DFT8 = 5. Throughput: 8 points a cycle.
module sol_rsa_dft8 (
  input  logic clk_i,
  input  logic [7:0][63:0] x_i,
  output logic [7:0][63:0] y_o);

  logic [7:0][63:0] x1;
  logic [3:0][65:0] sum2, difference2;
  always_ff @(posedge clk_i) x1 <= x_i;
  for (genvar n = 0; n < 4; n++) begin : g_pair
    always_ff @(posedge clk_i) begin
      sum2[n] <= {2'b0, x1[n]} + {2'b0, x1[n+4]};
      difference2[n] <= {2'b0, x1[n]} - {2'b0, x1[n+4]} + 66'h1_FFFF_FFFE_0000_0002;    // + 2 p
    end
  end
  for (genvar k = 0; k < 8; k++) begin : g_lane
    logic signed [71:0] term [4];
    logic signed [71:0] sum3;
    for (genvar n = 0; n < 4; n++) begin : g_term
      localparam int S = (24 * n * k) % 192;
      wire [65:0] v = (k % 2 == 0) ? sum2[n] : difference2[n];
      wire [383:0] w = {318'b0, v} << S;
      logic signed [67:0] s;
      sol_fold192 u_fold (.z_i(w[191:0] | w[383:192]), .s_o(s));
      assign term[n] = 72'(s);
    end
    always_ff @(posedge clk_i) sum3 <= (term[0] + term[1]) + (term[2] + term[3]);
    sol_norm #(.W(72)) u_norm (.clk_i, .s_i(sum3), .r_o(y_o[k]));
  end
endmodule

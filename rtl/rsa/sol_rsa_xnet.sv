// Interchange network of 8 lanes: y[i] = x[i ^ sel], in three levels of two-way selection. Combinational.
module sol_rsa_xnet #(parameter int W = 64) (
  input logic [2:0] sel_i, input logic [7:0][W-1:0] x_i, output logic [7:0][W-1:0] y_o);
  for (genvar i = 0; i < 8; i++) begin : g_lane assign y_o[i] = x_i[3'(i) ^ sel_i]; end
endmodule

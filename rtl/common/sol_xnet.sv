// Interchange network of LANES lanes: y[i] = x[i ^ sel], in four levels of two-way selection. Combinational.
module sol_xnet #(parameter int LANES = 16) (
  input logic [3:0] sel_i, input logic [15:0][63:0] x_i, output logic [LANES-1:0][63:0] y_o);
  if (LANES < 1 || LANES > 16) begin : g_check $fatal(1, "sol_xnet: LANES = %0d is not in 1..16", LANES); end
  for (genvar i = 0; i < LANES; i++) begin : g_lane assign y_o[i] = x_i[4'(i) ^ sel_i]; end
endmodule

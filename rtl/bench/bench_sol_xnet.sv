// sol_xnet with 16 and with 8 outputs. Vectors: the selection, and 16 words; 16 words, compared bit by bit.
module bench_sol_xnet #(parameter int COUNT = 1);
  logic clk; logic [3:0] sel; logic [15:0][63:0] x, y; logic [7:0][63:0] half;
  logic [1027:0] in;
  assign {sel, x} = in;
  bench_driver #(.COUNT(COUNT), .IN(1028), .OUT(1536), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'd0),
    .out_i({half, y}));
  sol_xnet u_dut (.sel_i(sel), .x_i(x), .y_o(y));
  sol_xnet #(.LANES(8)) u_half (.sel_i(sel), .x_i(x), .y_o(half));
endmodule

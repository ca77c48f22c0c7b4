// sol_canon. Vectors: a residue; the canonical one, compared bit by bit.
module bench_sol_canon #(parameter int COUNT = 1);
  logic clk; logic [63:0] x, r;
  bench_driver #(.COUNT(COUNT), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(x), .latency_i(6'd0), .out_i(r));
  sol_canon u_dut (.x_i(x), .r_o(r));
endmodule

// sol_sto_constants of both instances. Vectors: the control; 16 factors and 16 rotation counts of the full one, then
// those of the small one, compared bit by bit.
module bench_sol_sto_constants #(parameter int COUNT = 1);
  logic clk; logic [15:0] control; logic [1:0][1119:0] out;
  bench_driver #(.COUNT(COUNT), .IN(16), .OUT(2240), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(control), .latency_i(6'd1),
    .out_i(out));
  for (genvar i = 0; i < 2; i++) begin : g_instance
    logic [15:0][63:0] factor; logic [15:0][5:0] rot;
    sol_sto_constants #(.BIG(i == 1)) u_dut (.clk_i(clk), .control_i(control), .factor_o(factor), .rot_o(rot));
    assign out[i] = {factor, rot};
  end
endmodule

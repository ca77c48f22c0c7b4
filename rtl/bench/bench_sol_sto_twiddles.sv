// sol_sto_twiddles of both instances. Vectors: the controls of the full one and of the small one; 16 factors and 16
// rotation counts of each, compared bit by bit.
module bench_sol_sto_twiddles #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [1:0][15:0] control; logic [1:0][1119:0] out;
  bench_driver #(.COUNT(COUNT), .IN(32), .OUT(2240), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(control),
    .latency_i(6'(LAT_ROM)), .out_i(out));
  for (genvar i = 0; i < 2; i++) begin : g_instance
    logic [15:0][63:0] factor; logic [15:0][5:0] rot;
    sol_sto_twiddles #(.BIG(i == 1)) u_dut (.clk_i(clk), .control_i(control[i]), .factor_o(factor), .rot_o(rot));
    assign out[i] = {factor, rot};
  end
endmodule

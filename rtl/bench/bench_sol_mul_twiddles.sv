// sol_mul_twiddles of both instances. Vectors: the early controls of the full one and of the small one, the late
// control of both; 16 factors and 16 rotation counts of sets A and B of the full one, then of the small one, compared
// bit by bit.
module bench_sol_mul_twiddles #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [2:0][15:0] in; logic [1:0][2239:0] out;
  bench_driver #(.COUNT(COUNT), .IN(48), .OUT(4480), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'(LAT_ROM)),
    .out_i(out));
  for (genvar i = 0; i < 2; i++) begin : g_instance
    logic [1:0][15:0][63:0] factor; logic [1:0][15:0][5:0] rot;
    sol_mul_twiddles #(.BIG(i == 1)) u_dut (.clk_i(clk), .early_i(in[1 + i][14:0]), .late_i(in[0][14:0]), .factor_o(factor), .rot_o(rot));
    assign out[i] = {factor[0], rot[0], factor[1], rot[1]};
  end
endmodule

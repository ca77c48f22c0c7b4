// sol_twiddle. Vectors: 16 exponents; 16 factors and 16 rotation counts, compared bit by bit.
module bench_sol_twiddle #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [15:0][15:0] e; logic [15:0][63:0] w; logic [15:0][5:0] rot;
  bench_driver #(.COUNT(COUNT), .IN(256), .OUT(1120), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(e),
    .latency_i(6'(LAT_ROM)), .out_i({w, rot}));
  sol_twiddle u_dut (.clk_i(clk), .e_i(e), .w_o(w), .rot_o(rot));
endmodule

// sol_sto_carry with HOLD. Vectors: {even, odd, first, read} as a digit, the segment, c0 and c1; the pair of digits or
// the carry that was read, compared bit by bit. The carry is delayed, so that both are due LAT_HOLD cycles after their
// controls.
module bench_sol_sto_carry #(parameter int COUNT = 1, parameter bit HOLD = 1'b1);
  import sol_sto_pkg::*;
  localparam logic [135:0] CONTROLS = 136'hF << 132;
  logic clk; logic [3:0] controls, segment; logic [63:0] c0, c1; logic [47:0] d; logic [40:0] carry;
  logic [135:0] in; logic [3:0] read; logic [2:0][40:0] late;
  assign {controls, segment, c0, c1} = in;
  always_ff @(posedge clk) begin read <= {read[2:0], controls[0]}; late <= {late[1:0], carry}; end
  bench_driver #(.COUNT(COUNT), .IN(136), .OUT(48), .RESIDUES(1'b0), .QUIET(CONTROLS)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'(LAT_HOLD)), .out_i(read[3] ? {7'b0, late[2]} : d));
  sol_sto_carry #(.HOLD(HOLD)) u_dut (.clk_i(clk), .even_i(controls[3]), .odd_i(controls[2]), .first_i(controls[1]),
    .segment_i(segment[1:0]), .c0_i(c0), .c1_i(c1), .d_o(d), .re_i(controls[0]), .ra_i(segment[1:0]), .carry_o(carry));
endmodule

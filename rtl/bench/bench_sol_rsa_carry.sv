// sol_rsa_carry at the widths of both lengths. Vectors: {half, valid}, {minus, halve, step} and the column as digits, 8
// residues for digits of 17 bits and 8 for digits of 25 bits; 8 digits of each, compared bit by bit. Passes follow each
// other at once or after a gap, in which everything but `valid` and `half` is noise.
module bench_sol_rsa_carry #(parameter int COUNT = 1);
  import sol_rsa_pkg::*;
  localparam logic [1035:0] VALID = 1036'b1 << 1032;
  logic clk; logic [3:0] head, kind, column; logic [7:0][63:0] c17, c25; logic [7:0][18:0] d17; logic [7:0][26:0] d25;
  logic [1035:0] in; logic half, half_q;
  assign {head, kind, column, c17, c25} = in;
  assign half = head[0] ? head[1] : half_q;
  always_ff @(posedge clk) half_q <= half;
  bench_driver #(.COUNT(COUNT), .IN(1036), .OUT(368), .RESIDUES(1'b0), .QUIET(VALID)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'(LAT_LOCAL) + (half ? 6'd2 : 6'd4)), .out_i({d17, d25}));
  sol_rsa_carry #(.W(17)) u_17 (.clk_i(clk), .half_i(half), .valid_i(head[0]), .column_i(column), .step_i(kind[1:0]),
    .minus_i(kind[3]), .halve_i(kind[2]), .c_i(c17), .d_o(d17));
  sol_rsa_carry #(.W(25)) u_25 (.clk_i(clk), .half_i(half), .valid_i(head[0]), .column_i(column), .step_i(kind[1:0]),
    .minus_i(kind[3]), .halve_i(kind[2]), .c_i(c25), .d_o(d25));
endmodule

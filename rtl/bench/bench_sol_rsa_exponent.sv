// sol_rsa_exponent with 4 words at most. Vectors: {clear, load, start, next} and {reset} as digits, and a word;
// {loaded, empty} as a digit and the window, compared bit by bit three cycles later. The window is 0 in a vector while
// there is none.
module bench_sol_rsa_exponent #(parameter int COUNT = 1);
  localparam logic [71:0] CONTROLS = 72'hFF << 64;
  logic clk; logic [3:0] control, reset, window; logic [63:0] word; logic loaded, empty;
  logic [71:0] in;
  assign {control, reset, word} = in;
  bench_driver #(.COUNT(COUNT), .IN(72), .OUT(8), .RESIDUES(1'b0), .QUIET(CONTROLS)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'd3), .out_i({2'b0, loaded, empty, empty ? 4'd0 : window}));
  sol_rsa_exponent #(.LOG_WORDS(2)) u_dut (.clk_i(clk), .rst_ni(!reset[0]), .clear_i(control[3]), .load_i(control[2]), .word_i(word),
    .loaded_o(loaded), .start_i(control[1]), .next_i(control[0]), .window_o(window), .empty_o(empty));
endmodule

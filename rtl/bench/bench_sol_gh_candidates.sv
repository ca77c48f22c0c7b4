// sol_gh_candidates with slots of 8 beats, in bench_memory. Settings, in words of 32 bits: the slots of the expansion
// and of the ciphertext, whether x_k is odd, the beat of slot 0, the places of the point, of the ratio and of the guard
// bits, the precision, the number of candidates. Result i: candidate i; result 2^16: whether the guard bits are all
// equal.
module bench_sol_gh_candidates #(parameter int COUNT = 1);
  import sol_gh_pkg::*;
  logic clk, reset_n, start, busy, unsafe, we, req, gnt, rvalid, rready; addr_t addr; beat_t rdata; logic [383:0] set, kept;
  logic [LOG_CANDIDATES-1:0] index; candidate_t candidate, found; logic [31:0] result;
  bench_memory #(.COUNT(COUNT)) u_memory (.clk_o(clk), .rst_no(reset_n), .start_o(start), .settings_o(set), .busy_i(busy),
    .result_o(result), .result_i(result[16] ? {383'b0, unsafe} : {379'b0, found}), .req_i(req), .gnt_o(gnt), .addr_i(addr),
    .rvalid_o(rvalid), .rready_i(rready), .rdata_o(rdata), .wreq_i(1'b0), .waddr_i(32'b0), .wdata_i(384'b0), .ready_i(1'b0));
  candidate_t candidates [0:511];
  always_ff @(posedge clk) if (we) candidates[index] <= candidate;
  assign found = candidates[result[8:0]];
  // The settings stay while the unit works.
  always_ff @(posedge clk) if (start) kept <= set;
  wire [383:0] now = start ? set : kept;
  sol_gh_candidates #(.LOG_SLOT(3)) u_dut (.clk_i(clk), .rst_ni(reset_n), .start_i(start), .expansion_i(now[13:0]),
    .ciphertext_i(now[45:32]), .odd_i(now[64]), .base_i(now[127:96]), .point_i(now[149:128]), .ratio_i(now[181:160]),
    .guard_i(now[213:192]), .precision_i(now[226:224]), .count_i(now[265:256]), .busy_o(busy), .unsafe_o(unsafe), .we_o(we),
    .index_o(index), .candidate_o(candidate), .req_o(req), .gnt_i(gnt), .addr_o(addr), .rvalid_i(rvalid), .rready_o(rready),
    .rdata_i(rdata));
endmodule

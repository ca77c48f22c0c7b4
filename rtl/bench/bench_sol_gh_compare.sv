// sol_gh_compare with slots of 8 beats, in bench_memory. Settings, in words of 32 bits: a, b, the beat of slot 0.
// Result 0: {greater, equal, odd}.
module bench_sol_gh_compare #(parameter int COUNT = 1);
  import sol_gh_pkg::*;
  logic clk, reset_n, start, busy, greater, equal, odd, req, gnt, rvalid, rready; addr_t addr; beat_t rdata; logic [383:0] set;
  bench_memory #(.COUNT(COUNT)) u_memory (.clk_o(clk), .rst_no(reset_n), .start_o(start), .settings_o(set), .busy_i(busy),
    .result_i({381'b0, greater, equal, odd}), .req_i(req), .gnt_o(gnt), .addr_i(addr), .rvalid_o(rvalid), .rready_i(rready),
    .rdata_o(rdata), .wreq_i(1'b0), .waddr_i(32'b0), .wdata_i(384'b0), .ready_i(1'b0));
  // The place of slot 0 stays while the unit works.
  addr_t base;
  always_ff @(posedge clk) if (start) base <= set[95:64];
  sol_gh_compare #(.LOG_SLOT(3)) u_dut (.clk_i(clk), .rst_ni(reset_n), .start_i(start), .a_i(set[13:0]), .b_i(set[45:32]), .base_i(base),
    .busy_o(busy), .greater_o(greater), .equal_o(equal), .odd_o(odd), .req_o(req), .gnt_i(gnt), .addr_o(addr), .rvalid_i(rvalid),
    .rready_o(rready), .rdata_i(rdata));
endmodule

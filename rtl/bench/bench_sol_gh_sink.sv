// sol_gh_sink with slots of 8 beats, in bench_memory, which streams the product. Settings, in words of 32 bits: the
// sink, c, d, the beat of slot 0, SHIFT.
module bench_sol_gh_sink #(parameter int COUNT = 1);
  import sol_gh_pkg::*;
  logic clk, reset_n, start, busy, valid, ready, last, req, gnt, rvalid, rready, wreq, wgnt; addr_t addr, waddr;
  beat_t data, rdata, wdata; logic [383:0] set; addr_t base; place_t shift;
  bench_memory #(.COUNT(COUNT)) u_memory (.clk_o(clk), .rst_no(reset_n), .start_o(start), .settings_o(set), .busy_i(busy),
    .result_i(384'b0), .req_i(req), .gnt_o(gnt), .addr_i(addr), .rvalid_o(rvalid), .rready_i(rready), .rdata_o(rdata), .wreq_i(wreq),
    .wgnt_o(wgnt), .waddr_i(waddr), .wdata_i(wdata), .valid_o(valid), .ready_i(ready), .data_o(data), .last_o(last));
  // SHIFT and the place of slot 0 stay while the unit works.
  always_ff @(posedge clk) if (start) begin base <= set[127:96]; shift <= set[149:128]; end
  /* verilator lint_off ENUMVALUE */
  sol_gh_sink #(.LOG_SLOT(3)) u_dut (.clk_i(clk), .rst_ni(reset_n), .start_i(start), .sink_i(set[2:0]), .c_i(set[45:32]), .d_i(set[77:64]),
    .base_i(base), .shift_i(shift), .busy_o(busy), .valid_i(valid), .ready_o(ready), .data_i(data), .last_i(last), .req_o(req),
    .gnt_i(gnt), .addr_o(addr), .rvalid_i(rvalid), .rready_o(rready), .rdata_i(rdata), .wreq_o(wreq), .wgnt_i(wgnt), .waddr_o(waddr),
    .wdata_o(wdata));
endmodule

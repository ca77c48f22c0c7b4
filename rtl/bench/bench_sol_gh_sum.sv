// sol_gh_sum with slots of 8 beats, in bench_memory. Settings, in words of 32 bits: columns, bit, first, count, to, the
// beat of slot 0, the beat of the table. Words of the stores: terms of the list, from 2^16 on the candidates. Result 0:
// whether the sum is negative; result 1: the beat after the table.
module bench_sol_gh_sum #(parameter int COUNT = 1);
  import sol_gh_pkg::*;
  logic clk, reset_n, start, busy, negative, req, gnt, rvalid, rready, wreq, wgnt, store_we; addr_t addr, waddr, table_end, base;
  beat_t rdata, wdata; logic [383:0] set, store; logic [31:0] store_addr, result; logic [LOG_LIST-1:0] list_addr; logic [15:0] term;
  logic [LOG_CANDIDATES-1:0] candidate_addr; candidate_t candidate;
  bench_memory #(.COUNT(COUNT)) u_memory (.clk_o(clk), .rst_no(reset_n), .start_o(start), .settings_o(set), .busy_i(busy),
    .store_we_o(store_we), .store_addr_o(store_addr), .store_data_o(store), .result_o(result),
    .result_i(result == 32'd0 ? {383'b0, negative} : {352'b0, table_end}), .req_i(req), .gnt_o(gnt), .addr_i(addr), .rvalid_o(rvalid),
    .rready_i(rready), .rdata_o(rdata), .wreq_i(wreq), .wgnt_o(wgnt), .waddr_i(waddr), .wdata_i(wdata), .ready_i(1'b0));
  sol_bank #(.LOG_WORDS(LOG_LIST), .W(16)) u_list (.clk_i(clk), .re_i(1'b1), .ra_i(list_addr), .rd_o(term),
    .we_i(store_we & !store_addr[16]), .wa_i(store_addr[LOG_LIST-1:0]), .wd_i(store[15:0]));
  sol_bank #(.LOG_WORDS(LOG_CANDIDATES), .W(OUTPUTS)) u_candidates (.clk_i(clk), .re_i(1'b1), .ra_i(candidate_addr), .rd_o(candidate),
    .we_i(store_we & store_addr[16]), .wa_i(store_addr[LOG_CANDIDATES-1:0]), .wd_i(store[OUTPUTS-1:0]));
  // The place of slot 0 stays while the unit works.
  always_ff @(posedge clk) if (start) base <= set[191:160];
  sol_gh_sum #(.LOG_SLOT(3)) u_dut (.clk_i(clk), .rst_ni(reset_n), .start_i(start), .columns_i(set[0]), .bit_i(set[32]),
    .first_i(set[73:64]), .count_i(set[105:96]), .to_i(set[141:128]), .base_i(base), .table_i(set[223:192]), .busy_o(busy),
    .negative_o(negative), .table_o(table_end), .list_addr_o(list_addr), .list_i(term), .candidate_addr_o(candidate_addr),
    .candidate_i(candidate), .req_o(req), .gnt_i(gnt), .addr_o(addr), .rvalid_i(rvalid), .rready_o(rready), .rdata_i(rdata),
    .wreq_o(wreq), .wgnt_i(wgnt), .waddr_o(waddr), .wdata_o(wdata));
endmodule

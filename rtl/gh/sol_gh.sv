// Accelerator for the scheme of Gentry and Halevi (doroz2015): one multiplier, sums over lists and tables, candidates, and
// master control. Encrypt, Decrypt and Recrypt are programs in its store.
//
// Ports: a register port of 64 bits, three read masters (two of the multiplier, one for each operand; one of the other units)
// and a write master, all of 384-bit beats. A read master gets its beats in order, after any time.
module sol_gh import sol_gh_pkg::*; import sol_mul_pkg::*; #(
  parameter int LOG_N = 16                     // points of the multiplier's transform: 16, or 11 for tests
) (
  input  logic        clk_i, rst_ni,
  input  logic        reg_we_i, input logic [15:0] reg_addr_i, input logic [63:0] reg_wdata_i, output logic [63:0] reg_rdata_o,
  output logic        irq_o,
  output logic        la_req_o, input logic la_gnt_i, output addr_t la_addr_o, input logic la_rvalid_i, input beat_t la_rdata_i,
  output logic        lb_req_o, input logic lb_gnt_i, output addr_t lb_addr_o, input logic lb_rvalid_i, input beat_t lb_rdata_i,
  output logic        c_req_o, input logic c_gnt_i, output addr_t c_addr_o, input logic c_rvalid_i, output logic c_rready_o,
  input  beat_t       c_rdata_i,
  output logic        w_req_o, input logic w_gnt_i, output addr_t w_addr_o, output beat_t w_data_o);

  if (LOG_N != 16 && LOG_N != 11) begin : g_check $fatal(1, "sol_gh: LOG_N = %0d is neither 16 nor 11", LOG_N); end
  localparam int LOG_SLOT = LOG_N - 5;         // 2^(LOG_N-1) digits of 24 bits in beats of 384: 16 digits a beat

  // Settings and control.
  addr_t base, table_base; place_t shift, point, ratio, guard;
  logic [LOG_CANDIDATES:0] count; logic [2:0] precision; logic bit_q; logic [15:0] odd;
  logic start, busy, done, error_we, bit_we, result; error_e error;
  logic [LOG_PROGRAM-1:0] entry, program_addr; instruction_t instruction, now, stored;
  logic [LOG_LIST-1:0] list_addr, sum_first, sum_count; term_t list;
  sol_gh_registers u_registers (.clk_i, .rst_ni, .reg_we_i, .reg_addr_i, .reg_wdata_i, .reg_rdata_o, .irq_o,
    .start_o(start), .entry_o(entry), .busy_i(busy), .done_i(done), .error_we_i(error_we), .bit_we_i(bit_we), .result_i(result),
    .error_i(error), .program_addr_i(program_addr), .instruction_o(instruction), .list_addr_i(list_addr), .list_o(list),
    .base_o(base), .table_o(table_base), .shift_o(shift), .point_o(point), .ratio_o(ratio), .guard_o(guard), .count_o(count),
    .precision_o(precision), .bit_o(bit_q), .odd_o(odd));

  logic product_valid, product_ready, refused, sink_start, sink_busy, sum_start, sum_columns, sum_busy;
  logic candidates_start, candidates_busy, unsafe, compare_start, compare_busy, greater, equal, is_odd;
  sol_gh_sequencer u_sequencer (.clk_i, .rst_ni, .start_i(start), .entry_i(entry), .busy_o(busy), .done_o(done),
    .error_we_o(error_we), .error_o(error), .program_addr_o(program_addr), .instruction_i(instruction), .now_o(now),
    .product_valid_o(product_valid), .product_ready_i(product_ready), .refused_i(refused), .sink_start_o(sink_start),
    .sink_o(stored), .sink_busy_i(sink_busy), .sum_start_o(sum_start), .sum_columns_o(sum_columns), .sum_first_o(sum_first),
    .sum_count_o(sum_count), .sum_busy_i(sum_busy), .candidates_start_o(candidates_start), .candidates_busy_i(candidates_busy),
    .unsafe_i(unsafe), .compare_start_o(compare_start), .compare_busy_i(compare_busy), .greater_i(greater), .equal_i(equal),
    .odd_i(is_odd), .count_i(count), .bit_we_o(bit_we), .bit_o(result));

  // The multiplier. Its command carries the operands' slots, which come back with its requests.
  logic out_valid, out_ready, out_last; beat_t out_data;
  logic [LOG_SLOT-1:0] la_beat, lb_beat; slot_t a_slot, b_slot;
  part_e part;
  assign part = now.sink == K_HIGH ? PART_HIGH : now.sink inside {K_SUBTRACT, K_ADD_LOW} ? PART_LOW : PART_ALL;
  sol_multiplier #(.LOG_N(LOG_N), .ID_W(28)) u_multiplier (.clk_i, .rst_ni, .cmd_valid_i(product_valid), .cmd_ready_o(product_ready),
    .cmd_op_i(now.a == now.b ? OP_SQR : OP_MUL), .cmd_part_i(part), .cmd_id_i({now.a, now.b}), .ld_id_o({a_slot, b_slot}),
    .la_req_o, .la_gnt_i, .la_addr_o(la_beat), .la_rvalid_i, .la_rdata_i,
    .lb_req_o, .lb_gnt_i, .lb_addr_o(lb_beat), .lb_rvalid_i, .lb_rdata_i,
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data), .out_last_o(out_last), .err_o(refused));
  assign la_addr_o = base + {{(18-LOG_SLOT){1'b0}}, a_slot, la_beat};
  assign lb_addr_o = base + {{(18-LOG_SLOT){1'b0}}, b_slot, lb_beat};

  // The units that share a read master and the write master. At most one of them has requests; the sink is first, since it
  // works while the sequencer already issues the next product.
  logic sink_req, sum_req, candidates_req, compare_req, sink_rready, sum_rready, candidates_rready, compare_rready;
  addr_t sink_addr, sum_addr, candidates_addr, compare_addr, sink_waddr, sum_waddr, table_next;
  logic sink_wreq, sum_wreq; beat_t sink_wdata, sum_wdata;
  assign c_req_o = sink_req | sum_req | candidates_req | compare_req;
  assign c_addr_o = sink_req ? sink_addr : sum_req ? sum_addr : candidates_req ? candidates_addr : compare_addr;
  assign c_rready_o = sink_rready | sum_rready & sum_busy | candidates_rready | compare_rready;
  assign w_req_o = sink_wreq | sum_wreq;
  assign w_addr_o = sink_wreq ? sink_waddr : sum_waddr;
  assign w_data_o = sink_wreq ? sink_wdata : sum_wdata;

  sol_gh_sink #(.LOG_SLOT(LOG_SLOT)) u_sink (.clk_i, .rst_ni, .start_i(sink_start), .sink_i(stored.sink), .c_i(stored.c),
    .d_i(stored.d), .base_i(base), .shift_i(shift), .busy_o(sink_busy), .valid_i(out_valid), .ready_o(out_ready),
    .data_i(out_data), .last_i(out_last), .req_o(sink_req), .gnt_i(c_gnt_i), .addr_o(sink_addr), .rvalid_i(c_rvalid_i),
    .rready_o(sink_rready), .rdata_i(c_rdata_i), .wreq_o(sink_wreq), .wgnt_i(w_gnt_i), .waddr_o(sink_waddr), .wdata_o(sink_wdata));

  // The table is read once from its start to its end in a program.
  addr_t table_now; logic negative; logic [LOG_CANDIDATES-1:0] candidate_addr, index; candidate_t candidate, candidate_in;
  logic candidate_we, sum_columns_q;
  assign table_now = sum_columns_q ? table_next : table_base;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) sum_columns_q <= 1'b0; else if (start) sum_columns_q <= 1'b0; else if (sum_start & sum_columns) sum_columns_q <= 1'b1;
  sol_gh_sum #(.LOG_SLOT(LOG_SLOT)) u_sum (.clk_i, .rst_ni, .start_i(sum_start), .columns_i(sum_columns), .bit_i(now.op == I_SUM & now.c[0] & bit_q),
    .first_i(sum_first), .count_i(sum_count), .to_i(now.op == I_REDUCE ? now.a : now.d), .base_i(base), .table_i(table_now),
    .busy_o(sum_busy), .negative_o(negative), .table_o(table_next), .list_addr_o(list_addr), .list_i(list),
    .candidate_addr_o(candidate_addr), .candidate_i(candidate), .req_o(sum_req), .gnt_i(c_gnt_i & !sink_req), .addr_o(sum_addr),
    .rvalid_i(c_rvalid_i & sum_busy), .rready_o(sum_rready), .rdata_i(c_rdata_i), .wreq_o(sum_wreq), .wgnt_i(w_gnt_i & !sink_wreq),
    .waddr_o(sum_waddr), .wdata_o(sum_wdata));

  sol_bank #(.LOG_WORDS(LOG_CANDIDATES), .W(OUTPUTS)) u_store (.clk_i, .re_i(1'b1), .ra_i(candidate_addr), .rd_o(candidate),
    .we_i(candidate_we), .wa_i(index), .wd_i(candidate_in));
  sol_gh_candidates #(.LOG_SLOT(LOG_SLOT)) u_candidates (.clk_i, .rst_ni, .start_i(candidates_start), .expansion_i(now.a),
    .ciphertext_i(now.c), .odd_i(odd[now.b[3:0]]), .base_i(base), .point_i(point), .ratio_i(ratio), .guard_i(guard),
    .precision_i(precision), .count_i(count), .busy_o(candidates_busy), .unsafe_o(unsafe), .we_o(candidate_we), .index_o(index),
    .candidate_o(candidate_in), .req_o(candidates_req), .gnt_i(c_gnt_i), .addr_o(candidates_addr), .rvalid_i(c_rvalid_i),
    .rready_o(candidates_rready), .rdata_i(c_rdata_i));

  sol_gh_compare #(.LOG_SLOT(LOG_SLOT)) u_compare (.clk_i, .rst_ni, .start_i(compare_start), .a_i(now.a), .b_i(now.b), .base_i(base),
    .busy_o(compare_busy), .greater_o(greater), .equal_o(equal), .odd_o(is_odd), .req_o(compare_req), .gnt_i(c_gnt_i),
    .addr_o(compare_addr), .rvalid_i(c_rvalid_i), .rready_o(compare_rready), .rdata_i(c_rdata_i));
  wire unused = ^{negative, now.flying, stored.op, stored.flying, stored.a, stored.b};
endmodule

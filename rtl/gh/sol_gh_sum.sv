// Sums of integers in memory (the encryption and recryption units of doroz2015 5.2 and 5.3).
//
// A pass goes through the integers beat by beat. For beat i it reads beat i of every summand, one a cycle, and adds it to up
// to OUTPUTS sums in carry-save form. After the last summand, one adder after the other resolves the sums; what lies
// above a beat is carried to the next one. So no summand is stored on chip, and memory is read once and in order.
//
// Two kinds of passes:
// - a list: the summands are the terms list[first .. first + count), in slots; output 0 is their signed sum plus `bit_i`.
//   The result may overwrite a summand, because a beat is read before it is written. `negative_o` tells a negative sum.
// - columns: the summands are the next `count` integers of the table, which holds beat 0 of all of them, then beat 1, and
//   so on. Candidate k of the store names the sums that take summand k: bit OUTPUTS-1-o for output o.
//
// Ranges: sums in (-2^(OVER-1), 2^(OVER-1)) times 2^BEAT for every beat. Throughput: one beat a cycle, if the write port
// takes one result every max(count, outputs) cycles. Memory may return beats after any time, in order.
module sol_gh_sum import sol_gh_pkg::*; #(parameter int LOG_SLOT = 11) (
  input  logic       clk_i, rst_ni,
  input  logic       start_i, columns_i, bit_i,
  input  logic [LOG_LIST-1:0] first_i,
  input  logic [LOG_LIST-1:0] count_i,        // 1 or more
  input  slot_t      to_i,
  input  addr_t      base_i, table_i,         // beat of slot 0; beat of the first summand of the table
  output logic       busy_o, negative_o,
  output addr_t      table_o,                 // beat after the last one that was read from the table
  output logic [LOG_LIST-1:0] list_addr_o, input term_t list_i,                      // read with one cycle of latency
  output logic [LOG_CANDIDATES-1:0] candidate_addr_o, input candidate_t candidate_i, // the same
  output logic req_o, input logic gnt_i, output addr_t addr_o,
  input  logic rvalid_i, output logic rready_o, input beat_t rdata_i,
  output logic wreq_o, input logic wgnt_i, output addr_t waddr_o, output beat_t wdata_o);

  localparam int W = BEAT + OVER;
  localparam int DEPTH = 64;                  // beats in flight
  typedef logic [W-1:0] wide_t;
  typedef struct packed { logic last, negative; candidate_t mask; } tag_t;

  // The pass.
  logic columns, add_bit, asking;
  logic [LOG_LIST-1:0] first, count, entry;
  logic [LOG_SLOT-1:0] beat;
  slot_t to;
  wire [2:0] top_output = columns ? 3'(OUTPUTS - 1) : 3'd0;

  // The stores answer one cycle after `look`. The answer is kept while its request waits.
  logic fresh;
  term_t list_kept, list_q; candidate_t candidate_kept, candidate_q;
  assign list_q = fresh ? list_i : list_kept;
  assign candidate_q = fresh ? candidate_i : candidate_kept;
  always_ff @(posedge clk_i) begin list_kept <= list_q; candidate_kept <= candidate_q; end

  // Requests: the entry that is looked up, then the entry whose beat is requested.
  logic look, found, found_last;
  logic [LOG_SLOT-1:0] found_beat;
  addr_t table_q;
  logic [$clog2(DEPTH+1)-1:0] flying;
  wire room = flying != ($clog2(DEPTH+1))'(DEPTH);
  assign req_o = found & room;
  wire asked = req_o & gnt_i;
  assign look = asking & (!found | asked);
  wire last_entry = entry == count - 1'b1;
  assign addr_o = columns ? table_q : base_i + {{(18-LOG_SLOT){1'b0}}, list_q.slot, found_beat};
  assign table_o = table_q;

  assign list_addr_o = first + entry;
  assign candidate_addr_o = entry[LOG_CANDIDATES-1:0];

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      asking <= 1'b0; found <= 1'b0; fresh <= 1'b0; table_q <= '0; entry <= '0; beat <= '0;
      columns <= 1'b0; add_bit <= 1'b0; first <= '0; count <= '0; to <= '0; found_beat <= '0; found_last <= 1'b0;
    end else if (start_i) begin
      asking <= 1'b1; found <= 1'b0; fresh <= 1'b0; table_q <= table_i; entry <= '0; beat <= '0;
      columns <= columns_i; add_bit <= bit_i; first <= first_i; count <= count_i; to <= to_i;
    end else begin
      fresh <= look;
      if (look) begin
        found_beat <= beat; found_last <= last_entry;
        entry <= last_entry ? '0 : entry + 1'b1;
        if (last_entry) begin beat <= beat + 1'b1; if (&beat) asking <= 1'b0; end
      end
      found <= look | (found & !asked);
      if (asked) table_q <= table_q + 32'd1;
    end

  // Tags of the beats in flight, in order.
  tag_t tags [DEPTH];
  logic [$clog2(DEPTH)-1:0] tag_in, tag_out;
  wire taken = rvalid_i & rready_o;
  wire candidate_t mask = columns ? candidate_q : {!list_q.skip, {(OUTPUTS-1){1'b0}}};
  always_ff @(posedge clk_i)
    if (asked) tags[tag_in] <= {found_last, !columns & list_q.negative & !list_q.skip, mask};     // in the order of the fields
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin flying <= '0; tag_in <= '0; tag_out <= '0; end
    else begin
      flying <= flying + ($clog2(DEPTH+1))'(asked) - ($clog2(DEPTH+1))'(taken);
      tag_in <= tag_in + ($clog2(DEPTH))'(asked);
      tag_out <= tag_out + ($clog2(DEPTH))'(taken);
    end

  // Accumulation in carry-save form. `word` is the beat that is added in this cycle.
  logic flow, add_now;                        // the whole pipeline moves; `word` is added
  logic word_valid; tag_t word_tag; beat_t word;
  logic first_word;
  wide_t save_s [OUTPUTS], save_c [OUTPUTS], next_s [OUTPUTS], next_c [OUTPUTS];
  // The sums of a beat wait here until the adder has resolved them, output by output.
  wide_t hold_s [OUTPUTS], hold_c [OUTPUTS];
  logic [OVER-2:0] minus, next_minus;
  for (genvar o = 0; o < OUTPUTS; o++) begin : g_save
    wide_t x, s, c;
    assign x = !word_tag.mask[OUTPUTS-1-o] ? '0 : word_tag.negative ? {{OVER{1'b1}}, ~word} : {{OVER{1'b0}}, word};
    assign s = first_word ? '0 : save_s[o];
    assign c = first_word ? '0 : save_c[o];
    assign next_s[o] = x ^ s ^ c;
    assign next_c[o] = {(x[W-2:0] & s[W-2:0]) | (x[W-2:0] & c[W-2:0]) | (s[W-2:0] & c[W-2:0]), 1'b0};
    always_ff @(posedge clk_i) if (add_now) begin
      save_s[o] <= next_s[o]; save_c[o] <= next_c[o];
      if (word_tag.last) begin hold_s[o] <= next_s[o]; hold_c[o] <= next_c[o]; end
    end
  end
  // -x = ~x + 1: the ones are counted.
  assign next_minus = (first_word ? '0 : minus) + (OVER-1)'(word_tag.negative);

  logic [OVER-2:0] hold_minus;
  logic hold_valid; logic [2:0] hold_output; logic [LOG_SLOT-1:0] hold_beat;
  wire hold_moves = hold_valid & flow;
  wire hold_free = !hold_valid | (hold_moves & hold_output == top_output);
  assign add_now = word_valid & flow & (hold_free | !word_tag.last);
  assign rready_o = !word_valid | add_now;
  always_ff @(posedge clk_i) begin
    if (rready_o) begin word <= rdata_i; word_tag <= tags[tag_out]; end
    if (add_now) begin minus <= next_minus; if (word_tag.last) hold_minus <= next_minus; end
  end

  // Resolution in two steps: sum and carry, then the carry of the beat before.
  logic one_valid, one_last; logic [2:0] one_output; logic [LOG_SLOT-1:0] one_beat; wide_t one;
  logic two_valid, two_last; logic [2:0] two_output; logic [LOG_SLOT-1:0] two_beat; beat_t two;
  logic [OVER-1:0] carry [OUTPUTS];
  logic negative, done;
  wire [OVER-1:0] carry_in = one_beat == '0 ? '0 : carry[one_output];
  wire wide_t sum = one + {{BEAT{carry_in[OVER-1]}}, carry_in};
  assign flow = !two_valid | wgnt_i;
  assign wreq_o = two_valid;
  assign wdata_o = two;
  assign waddr_o = base_i + {{(18-LOG_SLOT){1'b0}}, to + 14'(two_output), two_beat};
  assign negative_o = negative;
  always_ff @(posedge clk_i) if (flow) begin
    one <= hold_s[hold_output] + hold_c[hold_output] + W'(hold_minus) + W'({add_bit && hold_beat == '0 && hold_output == '0});
    one_output <= hold_output; one_beat <= hold_beat; one_last <= (&hold_beat) & hold_output == top_output;
    two <= sum[BEAT-1:0]; two_output <= one_output; two_beat <= one_beat; two_last <= one_last;
    if (one_valid) begin carry[one_output] <= sum[W-1:BEAT]; negative <= sum[W-1]; end
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      word_valid <= 1'b0; first_word <= 1'b1; hold_valid <= 1'b0; hold_output <= '0; hold_beat <= '0;
      one_valid <= 1'b0; two_valid <= 1'b0; busy_o <= 1'b0;
    end else begin
      if (rready_o) word_valid <= rvalid_i;
      if (add_now) first_word <= word_tag.last;
      if (hold_moves) hold_output <= hold_output == top_output ? '0 : hold_output + 1'b1;
      if (hold_moves & hold_output == top_output) begin hold_valid <= 1'b0; hold_beat <= hold_beat + 1'b1; end
      if (add_now & word_tag.last) hold_valid <= 1'b1;
      if (flow) begin one_valid <= hold_valid; two_valid <= one_valid; end
      if (start_i) busy_o <= 1'b1; else if (done) busy_o <= 1'b0;
    end
  assign done = two_valid & wgnt_i & two_last;
endmodule

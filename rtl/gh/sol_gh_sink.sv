// Takes the products of the multiplier and stores them, adds them to integers in memory or subtracts them (see sink_e).
//
// The product comes beat by beat, lowest first. An integer in memory is read beside it. The sum of a beat carries into the
// next one. The shifted copy of a split joins two neighbouring beats. It needs a second write in the cycles in which the
// low half is still written; the stream waits for it.
//
// SHIFT is below the size of a slot. Throughput: one beat a cycle, one every two cycles while both copies are written.
module sol_gh_sink import sol_gh_pkg::*; #(parameter int LOG_SLOT = 11) (
  input  logic   clk_i, rst_ni,
  input  logic   start_i, input sink_e sink_i, input slot_t c_i, d_i,
  input  addr_t  base_i, input place_t shift_i,
  output logic   busy_o,
  input  logic   valid_i, output logic ready_o, input beat_t data_i, input logic last_i,
  output logic   req_o, input logic gnt_i, output addr_t addr_o,
  input  logic   rvalid_i, output logic rready_o, input beat_t rdata_i,
  output logic   wreq_o, input logic wgnt_i, output addr_t waddr_o, output beat_t wdata_o);

  sink_e sink; slot_t c, d;
  function automatic logic reads_memory(sink_e kind);
    return kind == K_ADD | kind == K_ADD_SPLIT | kind == K_SUBTRACT | kind == K_ADD_LOW;
  endfunction
  wire reads = reads_memory(sink);
  wire splits = sink == K_SPLIT | sink == K_ADD_SPLIT;
  wire whole = sink == K_STORE | sink == K_ADD | splits;
  wire subtracts = sink == K_SUBTRACT;

  function automatic addr_t address(addr_t base, slot_t slot, logic [LOG_SLOT:0] beat);
    return base + {{(18-LOG_SLOT){1'b0}}, slot, {LOG_SLOT{1'b0}}} + 32'(beat);
  endfunction

  // Requests run ahead of the product.
  logic asking; logic [LOG_SLOT:0] ask;
  wire last_ask = whole ? &ask : &ask[LOG_SLOT-1:0];
  assign req_o = asking;
  assign addr_o = address(base_i, subtracts ? c : d, ask);

  // A beat of the result, the beat before it, and the writes that it still needs.
  logic [LOG_SLOT:0] beat, now;
  beat_t result, previous; logic carry, ended, low_due, split_due;
  wire last_write = wgnt_i & (low_due ^ split_due);
  wire free = !(low_due | split_due) | last_write;
  wire take = busy_o & !ended & valid_i & (rvalid_i | !reads) & free;
  assign ready_o = take;
  assign rready_o = take & reads;
  wire beat_t x = reads ? rdata_i : '0;
  wire [BEAT:0] sum = subtracts ? {1'b0, x} - {1'b0, data_i} - (BEAT+1)'(carry) : {1'b0, x} + {1'b0, data_i} + (BEAT+1)'(carry);

  // The shifted copy: beat j holds bits from SHIFT + 384 j on, and is whole when beat SHIFT / 384 + j + 1 has come.
  wire [LOG_SLOT:0] from = (LOG_SLOT+1)'(shift_i.word) + 1'b1;
  wire [LOG_SLOT:0] split_beat = now - from;
  wire [LOG_SLOT:0] ahead = beat - from;        // no further than a slot
  wire beat_t joined = BEAT'({result, previous} >> shift_i.bits);
  assign wreq_o = low_due | split_due;
  assign wdata_o = low_due ? result : joined;
  assign waddr_o = low_due ? address(base_i, d, now) : address(base_i, c, split_beat);

  always_ff @(posedge clk_i) if (take) begin result <= sum[BEAT-1:0]; previous <= result; now <= beat; end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy_o <= 1'b0; asking <= 1'b0; ask <= '0; beat <= '0; carry <= 1'b0; ended <= 1'b0; low_due <= 1'b0; split_due <= 1'b0;
      sink <= K_STORE; c <= '0; d <= '0;
    end else if (start_i) begin
      busy_o <= 1'b1; sink <= sink_i; c <= c_i; d <= d_i; ask <= '0; beat <= '0; carry <= 1'b0; ended <= 1'b0;
      asking <= reads_memory(sink_i);
    end else begin
      if (asking & gnt_i) begin ask <= ask + 1'b1; asking <= !last_ask; end
      if (wgnt_i) begin if (low_due) low_due <= 1'b0; else split_due <= 1'b0; end
      if (take) begin
        beat <= beat + 1'b1; carry <= sum[BEAT]; ended <= last_i;
        low_due <= !(splits & beat[LOG_SLOT]);
        split_due <= splits & beat >= from & !ahead[LOG_SLOT];
      end
      if (ended & !(low_due | split_due)) busy_o <= 1'b0;
    end
endmodule

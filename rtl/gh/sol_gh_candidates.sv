// The candidates of a block from the expansion of c x_k / d (the table of precision bits of doroz2015 5.3.2).
//
// The expansion E is an integer in two slots. Candidate i is a window of p + 2 of its bits, at the place `point_i` minus
// i times `ratio_i`. Its lowest p + 1 bits are the fraction, which is rounded to p bits and a carry. The highest bit is the
// parity of y_i, except for i = 0: then the parity of c x_k is added. The parity goes to the highest bit of the candidate.
// The 62 bits from `guard_i` on must not be all equal: then no error of the expansion has reached the bits above them.
//
// So one product replaces the S subtractions and shifts of the paper. Duration: at most 10 cycles a candidate and the latency
// of memory.
module sol_gh_candidates import sol_gh_pkg::*; #(parameter int LOG_SLOT = 11) (
  input  logic  clk_i, rst_ni,
  input  logic  start_i,
  input  slot_t expansion_i, ciphertext_i,
  input  logic  odd_i,                          // x_k is odd
  input  addr_t base_i,
  input  place_t point_i, ratio_i, guard_i,     // ratio_i: beats and bits between two candidates
  input  logic [2:0] precision_i,               // p: 2 to 4
  input  logic [LOG_CANDIDATES:0] count_i,      // S
  output logic  busy_o, unsafe_o,
  output logic  we_o, output logic [LOG_CANDIDATES-1:0] index_o, output candidate_t candidate_o,
  output logic  req_o, input logic gnt_i, output addr_t addr_o,
  input  logic  rvalid_i, output logic rready_o, input beat_t rdata_i);

  typedef enum logic [3:0] {IDLE, ASK_C, GET_C, ASK_LOW, ASK_HIGH, GET_LOW, GET_HIGH, CUT, USE} state_e;
  state_e state; place_t place; logic guarding, parity; logic [LOG_CANDIDATES:0] index;
  beat_t low, high; logic [63:0] window;
  assign busy_o = state != IDLE;
  assign req_o = state == ASK_C | state == ASK_LOW | state == ASK_HIGH;
  assign rready_o = state == GET_C | state == GET_LOW | state == GET_HIGH;
  wire [LOG_SLOT:0] beat = (LOG_SLOT+1)'(place.word) + (LOG_SLOT+1)'(state == ASK_HIGH);
  assign addr_o = base_i + {{(18-LOG_SLOT){1'b0}}, state == ASK_C ? ciphertext_i : expansion_i, {LOG_SLOT{1'b0}}}
                + (state == ASK_C ? '0 : 32'(beat));

  // The place of the next candidate, with a borrow from bits to beats.
  wire borrow = place.bits < ratio_i.bits;
  place_t next;
  assign next.word = place.word - ratio_i.word - 13'(borrow);
  assign next.bits = place.bits - ratio_i.bits + (borrow ? 9'(BEAT) : 9'd0);

  // Rounding. All shifts are by p.
  wire [4:0] fraction = window[4:0] & ((5'd2 << precision_i) - 5'd1);
  wire [4:0] rounded = {1'b0, fraction[4:1]} + {4'b0, fraction[0]};
  wire above = window[6'(precision_i) + 6'd1];
  wire odd = index == '0 ? above ^ parity : above;
  wire [4:0] candidate = rounded ^ ({4'b0, odd} << precision_i);
  // The highest of the p + 1 bits is bit OUTPUTS-1 of the store.
  assign candidate_o = candidate << (3'd4 - precision_i);
  assign index_o = index[LOG_CANDIDATES-1:0];
  assign we_o = state == USE & !guarding;

  always_ff @(posedge clk_i) begin
    if (state == GET_LOW & rvalid_i) low <= rdata_i;
    if (state == GET_HIGH & rvalid_i) high <= rdata_i;
    if (state == CUT) window <= 64'({high, low} >> place.bits);
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state <= IDLE; place <= '0; guarding <= 1'b0; parity <= 1'b0; index <= '0; unsafe_o <= 1'b0;
    end else unique case (state)
      IDLE:     if (start_i) begin state <= ASK_C; place <= guard_i; guarding <= 1'b1; index <= '0; unsafe_o <= 1'b0; end
      ASK_C:    if (gnt_i) state <= GET_C;
      GET_C:    if (rvalid_i) begin parity <= rdata_i[0] & odd_i; state <= ASK_LOW; end
      ASK_LOW:  if (gnt_i) state <= ASK_HIGH;
      ASK_HIGH: if (gnt_i) state <= GET_LOW;
      GET_LOW:  if (rvalid_i) state <= GET_HIGH;
      GET_HIGH: if (rvalid_i) state <= CUT;
      CUT:      state <= USE;
      USE: begin
        guarding <= 1'b0;
        if (guarding) begin
          unsafe_o <= window[61:0] == '0 | (&window[61:0]);
          place <= point_i; state <= ASK_LOW;
        end else begin
          place <= next; index <= index + 1'b1;
          state <= index + 1'b1 == count_i ? IDLE : ASK_LOW;
        end
      end
      default: state <= IDLE;
    endcase
endmodule

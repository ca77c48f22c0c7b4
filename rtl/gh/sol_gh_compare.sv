// Compares the integers in two slots: from the highest beat down, to the first beat in which they differ. It also returns the
// lowest bit of the first one. Duration: a few cycles for nearly all pairs, 2^(LOG_SLOT+1) requests for equal ones.
module sol_gh_compare import sol_gh_pkg::*; #(parameter int LOG_SLOT = 11) (
  input  logic  clk_i, rst_ni,
  input  logic  start_i, input slot_t a_i, b_i, input addr_t base_i,
  output logic  busy_o, greater_o, equal_o, odd_o,     // a > b; a = b; a is odd
  output logic  req_o, input logic gnt_i, output addr_t addr_o,
  input  logic  rvalid_i, output logic rready_o, input beat_t rdata_i);

  typedef enum logic [2:0] {IDLE, ASK_LOW, GET_LOW, ASK_A, ASK_B, GET_A, GET_B} state_e;
  state_e state; logic [LOG_SLOT-1:0] beat; beat_t high;
  slot_t a, b;
  assign busy_o = state != IDLE;
  assign req_o = state == ASK_LOW | state == ASK_A | state == ASK_B;
  assign rready_o = state == GET_LOW | state == GET_A | state == GET_B;
  assign addr_o = base_i + {{(18-LOG_SLOT){1'b0}}, state == ASK_B ? b : a, state == ASK_LOW ? '0 : beat};

  always_ff @(posedge clk_i) if (state == GET_A & rvalid_i) high <= rdata_i;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state <= IDLE; beat <= '0; a <= '0; b <= '0; greater_o <= 1'b0; equal_o <= 1'b0; odd_o <= 1'b0;
    end else unique case (state)
      IDLE:    if (start_i) begin state <= ASK_LOW; a <= a_i; b <= b_i; beat <= '1; end
      ASK_LOW: if (gnt_i) state <= GET_LOW;
      GET_LOW: if (rvalid_i) begin odd_o <= rdata_i[0]; state <= ASK_A; end
      ASK_A:   if (gnt_i) state <= ASK_B;
      ASK_B:   if (gnt_i) state <= GET_A;
      GET_A:   if (rvalid_i) state <= GET_B;
      GET_B:   if (rvalid_i) begin
        greater_o <= high > rdata_i; equal_o <= high == rdata_i;
        state <= high == rdata_i && beat != '0 ? ASK_A : IDLE;
        beat <= beat - 1'b1;
      end
      default: state <= IDLE;
    endcase
endmodule

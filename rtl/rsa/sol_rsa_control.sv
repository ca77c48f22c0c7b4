// Commands of the exponentiator, and the transfers of its operands as streams of 64-bit words, lowest first.
//
//   KEY       N' = 1/N modulo 2^n - 1, then N; n/64 words each. N is odd, its two upper digits are 0; N N' = 1 is checked.
//   EXPONENT  `cmd_words_i` words
//   POWER     R^2 mod N for R = 2^n - 1, then the base below N, for each modulus; returns the powers, n/64 words each
//
// `cmd_half_i` takes moduli of half the length; then there are two, and POWER computes for one of them or for both at a time.
module sol_rsa_control import sol_rsa_pkg::*; #(parameter int W = 17, parameter int LOG_EXPONENT = 7) (
  input  logic clk_i, rst_ni,
  input  logic cmd_valid_i, output logic cmd_ready_o, input op_e cmd_op_i, input logic cmd_half_i,
  input  logic [1:0] cmd_moduli_i, input logic [LOG_EXPONENT:0] cmd_words_i,
  output logic done_o, output error_e error_o,
  input  logic in_valid_i, output logic in_ready_o, input logic [63:0] in_data_i,
  output logic out_valid_o, input logic out_ready_i, output logic [63:0] out_data_o, output logic out_last_o,
  output logic half_o,
  // passes of the loading of keys
  output a_control_t a_o, input logic a_grant_i, output b_control_t b_o, input logic b_grant_i,
  // threads and exponents
  output logic [1:0] start_o, input logic [1:0] busy_i,
  output logic [1:0] exponent_clear_o, exponent_load_o, input logic [1:0] exponent_loaded_i,
  // single digits
  output logic one_re_o, one_we_o, one_power_o, one_thread_o, output logic [8:0] one_n_o,
  output logic [W+1:0] one_data_o, input logic [W+1:0] one_data_i);

  typedef enum logic [3:0] {IDLE, INVERSE, MODULUS, PASSES, CHECK, EXPONENT, SQUARE, BASE, RUN, FINISH} state_e;
  state_e state; logic half; logic [1:0] moduli, keys; logic thread; logic [2:0] pass; logic [7:0] pause;
  logic [LOG_EXPONENT:0] words; logic ended;
  assign half_o = half;
  assign cmd_ready_o = state == IDLE & !ended;
  wire take = cmd_valid_i & cmd_ready_o;
  wire one_modulus = cmd_moduli_i == 2'b01 | (cmd_half_i & cmd_moduli_i == 2'b10);
  wire known_moduli = one_modulus | (cmd_half_i & cmd_moduli_i == 2'b11);
  wire [LOG_EXPONENT:0] most = (cmd_half_i & cmd_moduli_i[1]) ? (LOG_EXPONENT+1)'(1 << (LOG_EXPONENT-1)) : (LOG_EXPONENT+1)'(1 << LOG_EXPONENT);
  wire same = cmd_half_i == half;
  error_e refusal;
  always_comb
    unique case (cmd_op_i)
      OP_KEY:      refusal = one_modulus ? E_NONE : E_COMMAND;
      OP_EXPONENT: refusal = one_modulus & cmd_words_i != '0 & cmd_words_i <= most ? E_NONE : E_COMMAND;
      OP_POWER:    refusal = !known_moduli ? E_COMMAND
                           : !same | (cmd_moduli_i & ~keys) != '0 | (cmd_moduli_i & ~exponent_loaded_i) != '0 ? E_NO_KEY : E_NONE;
      default:     refusal = E_COMMAND;
    endcase

  // Loads.
  wire [8:0] last = half ? 9'd255 : 9'd511;
  logic load_start, load_busy, load_ready, digit_valid; logic [8:0] digit_n; logic [W-1:0] digit;
  sol_rsa_load #(.W(W)) u_load (.clk_i, .rst_ni, .start_i(load_start), .digits_i({1'b0, last} + 10'd1), .busy_o(load_busy),
    .valid_i(in_valid_i), .ready_o(load_ready), .data_i(in_data_i), .digit_valid_o(digit_valid), .digit_n_o(digit_n), .digit_o(digit));
  wire loads = state inside {INVERSE, MODULUS, SQUARE, BASE};
  logic started;
  assign load_start = loads & !started;
  wire loaded = loads & started & !load_busy;
  assign in_ready_o = state == EXPONENT | load_ready;
  wire word_taken = in_valid_i & state == EXPONENT;
  assign exponent_load_o = {word_taken & thread, word_taken & !thread};
  // An exponent never serves a modulus that came after it, nor one of another length.
  assign exponent_clear_o = !(take & refusal == E_NONE & cmd_op_i != OP_POWER) ? 2'b00 : same ? cmd_moduli_i : 2'b11;

  // Finish: the digits of the modulus arrive with those of the number.
  logic finish_start, finish_busy, is_one, finish_re, finish_we, odd, long_modulus; logic [8:0] finish_n; logic [W+1:0] finish_data;
  logic [W-1:0] modulus_read, modulus;
  wire [8:0] modulus_n = state == MODULUS ? digit_n : finish_n;
  wire [8:0] modulus_address = half ? {thread, modulus_n[7:0]} : modulus_n;
  sol_bank #(.LOG_WORDS(9), .W(W)) u_modulus (.clk_i, .re_i(finish_re), .ra_i(modulus_address), .rd_o(modulus_read),
    .we_i(digit_valid & state == MODULUS), .wa_i(modulus_address), .wd_i(digit));
  always_ff @(posedge clk_i) modulus <= modulus_read;
  assign finish_start = state inside {CHECK, FINISH} & !started;
  sol_rsa_finish #(.W(W)) u_finish (.clk_i, .rst_ni, .start_i(finish_start), .check_i(state == CHECK), .last_i(last), .busy_o(finish_busy),
    .one_o(is_one), .re_o(finish_re), .we_o(finish_we), .n_o(finish_n), .data_o(finish_data), .data_i(one_data_i), .modulus_i(modulus),
    .out_valid_o, .out_ready_i, .out_data_o, .out_last_o);
  wire finished = state inside {CHECK, FINISH} & started & !finish_busy;

  assign one_re_o = finish_re;
  assign one_we_o = loads ? digit_valid : finish_we;
  assign one_n_o = loads ? digit_n : finish_n;
  assign one_data_o = loads ? {2'b0, digit} : finish_data;
  assign one_power_o = state == SQUARE;
  assign one_thread_o = thread;

  // Passes of a key: a pause behind each is longer than any latency.
  wire asks = state == PASSES & pause == '0;
  always_comb begin
    a_o = '0; b_o = '0;
    a_o.thread = thread; b_o.thread = thread;
    if (asks)
      unique case (pass)
        3'd0:    a_o.pass = A_FC;
        3'd1:    a_o.pass = A_KC;
        3'd2:    a_o.pass = A_FN;
        3'd3:    a_o.pass = A_KN;
        3'd4:    a_o.pass = A_FC;
        3'd5:    a_o.pass = A_PT;
        default: b_o.pass = B_DC;
      endcase
  end

  assign start_o = state == RUN & !started ? moduli : 2'b00;
  wire other = moduli[1] & !thread;            // the second modulus comes next
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state <= IDLE; half <= 1'b0; moduli <= '0; keys <= '0; thread <= 1'b0; pass <= '0; pause <= '0; words <= '0; ended <= 1'b0;
      started <= 1'b0; odd <= 1'b0; long_modulus <= 1'b0; done_o <= 1'b0; error_o <= E_NONE;
    end else begin
      done_o <= 1'b0; ended <= 1'b0;
      if (pause != '0) pause <= pause - 8'd1;
      unique case (state)
        IDLE: if (take) begin
          error_o <= refusal; moduli <= cmd_moduli_i; thread <= !cmd_moduli_i[0]; words <= cmd_words_i; started <= 1'b0;
          if (refusal != E_NONE) begin done_o <= 1'b1; ended <= 1'b1; end
          else begin
            half <= cmd_half_i;
            if (!same) keys <= '0;
            unique case (cmd_op_i)
              OP_KEY:      begin state <= INVERSE; keys <= (same ? keys : 2'b00) & ~cmd_moduli_i; end
              OP_EXPONENT: state <= EXPONENT;
              default:     state <= SQUARE;
            endcase
          end
        end
        INVERSE: begin started <= 1'b1; if (loaded) begin state <= PASSES; pass <= 3'd0; end end
        MODULUS: begin
          started <= 1'b1;
          if (digit_valid & digit_n == '0) odd <= digit[0];
          // Without two digits of 0, the carried digits of w could stand for w + Q (docs/book/hardware.md).
          if (digit_valid) long_modulus <= digit_n[8:1] == last[8:1] & (digit != '0 | (digit_n[0] & long_modulus));
          if (loaded) begin state <= PASSES; pass <= 3'd2; end
        end
        PASSES: begin
          started <= 1'b0;
          if (a_grant_i | b_grant_i) begin pause <= 8'd250; pass <= pass + 3'd1; end
          // The pause behind the last pass of each part is over.
          if (pause == 8'd1 & pass == 3'd2) state <= MODULUS;
          if (pause == 8'd1 & pass == 3'd7) state <= CHECK;
        end
        CHECK: begin
          started <= 1'b1;
          if (finished) begin
            state <= IDLE; done_o <= 1'b1; ended <= 1'b1;
            error_o <= !odd ? E_EVEN : long_modulus ? E_LONG : !is_one ? E_INVERSE : E_NONE;
            if (odd & !long_modulus & is_one) keys <= keys | moduli;
          end
        end
        EXPONENT: if (in_valid_i) begin
          words <= words - 1'b1;
          if (words == (LOG_EXPONENT+1)'(1)) begin state <= IDLE; done_o <= 1'b1; ended <= 1'b1; end
        end
        SQUARE: begin started <= !loaded; if (loaded) state <= BASE; end
        BASE: begin
          started <= !loaded;
          if (loaded) begin
            if (other) begin state <= SQUARE; thread <= 1'b1; end
            else state <= RUN;
          end
        end
        RUN: begin
          started <= 1'b1;
          if (started & pause == '0 & busy_i == '0) begin state <= FINISH; started <= 1'b0; thread <= !moduli[0]; end
          if (!started) pause <= 8'd3;
        end
        FINISH: begin
          started <= !finished;
          if (finished) begin
            if (other) thread <= 1'b1;
            else begin state <= IDLE; done_o <= 1'b1; ended <= 1'b1; end
          end
        end
        default: state <= IDLE;
      endcase
    end
endmodule

// Exponentiator for RSA: powers modulo numbers of BITS bits, or modulo two numbers of half of that at a time (wang2014 chapter 7).
//
// A product modulo N is computed by McLaughlin's method with transforms of 512 points over p = 2^64 - 2^32 + 1, on 8 lanes:
// with R = 2^n - 1 and N' = 1/N mod R, t = a b mod R, m = t N' mod R, w = (m N - a b) / 2 mod 2^n + 1 is a b / R modulo N.
// Digits have 17 bits for 8192 bits, 25 bits for 12,288. Windows have 4 bits. No cycle and no address depends on an exponent.
//
// sol_rsa_control states the commands. `done_o` ends each command; `error_o` then holds its outcome.
module sol_rsa import sol_rsa_pkg::*; #(
  parameter int BITS = 8192,                   // or 12288
  localparam int W = BITS == 8192 ? 17 : 25,   // bits of a digit
  localparam int LOG_EXPONENT = BITS == 8192 ? 7 : 8
) (
  input  logic clk_i, rst_ni,
  input  logic cmd_valid_i, output logic cmd_ready_o, input op_e cmd_op_i, input logic cmd_half_i,
  input  logic [1:0] cmd_moduli_i, input logic [LOG_EXPONENT:0] cmd_words_i,
  output logic done_o, output error_e error_o,
  input  logic in_valid_i, output logic in_ready_o, input logic [63:0] in_data_i,
  output logic out_valid_o, input logic out_ready_i, output logic [63:0] out_data_o, output logic out_last_o);

  if (BITS != 8192 && BITS != 12288) begin : g_check $fatal(1, "sol_rsa: BITS = %0d is neither 8192 nor 12288", BITS); end

  logic half; a_control_t ask_a [3], a; b_control_t ask_b [3], b; logic [2:0] grant_a, grant_b;
  logic [1:0] start, busy, clear, load, loaded;
  logic one_re, one_we, one_power, one_thread; logic [8:0] one_n; logic [W+1:0] one_in, one_out;
  sol_rsa_control #(.W(W), .LOG_EXPONENT(LOG_EXPONENT)) u_control (.clk_i, .rst_ni, .cmd_valid_i, .cmd_ready_o, .cmd_op_i, .cmd_half_i,
    .cmd_moduli_i, .cmd_words_i, .done_o, .error_o, .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_ready_i, .out_data_o,
    .out_last_o, .half_o(half), .a_o(ask_a[2]), .a_grant_i(grant_a[2]), .b_o(ask_b[2]), .b_grant_i(grant_b[2]), .start_o(start),
    .busy_i(busy), .exponent_clear_o(clear), .exponent_load_o(load), .exponent_loaded_i(loaded), .one_re_o(one_re), .one_we_o(one_we),
    .one_power_o(one_power), .one_thread_o(one_thread), .one_n_o(one_n), .one_data_o(one_in), .one_data_i(one_out));
  for (genvar i = 0; i < 2; i++) begin : g_thread
    logic [3:0] window; logic empty, next;
    // The second modulus is always a half.
    sol_rsa_exponent #(.LOG_WORDS(LOG_EXPONENT - i)) u_exponent (.clk_i, .rst_ni, .clear_i(clear[i]), .load_i(load[i]), .word_i(in_data_i),
      .loaded_o(loaded[i]), .start_i(start[i]), .next_i(next), .window_o(window), .empty_o(empty));
    sol_rsa_thread u_thread (.clk_i, .rst_ni, .half_i(half), .thread_i(1'(i)), .start_i(start[i]), .busy_o(busy[i]), .a_o(ask_a[i]),
      .a_grant_i(grant_a[i]), .b_o(ask_b[i]), .b_grant_i(grant_b[i]), .window_i(window), .empty_i(empty), .next_o(next));
  end
  sol_rsa_scheduler u_scheduler (.clk_i, .rst_ni, .half_i(half), .ask_a_i(ask_a), .grant_a_o(grant_a), .ask_b_i(ask_b), .grant_b_o(grant_b),
    .a_o(a), .b_o(b));
  sol_rsa_path #(.W(W)) u_path (.clk_i, .rst_ni, .half_i(half), .a_i(a), .b_i(b), .one_re_i(one_re), .one_we_i(one_we),
    .one_power_i(one_power), .one_thread_i(one_thread), .one_n_i(one_n), .one_data_i(one_in), .one_data_o(one_out));
endmodule

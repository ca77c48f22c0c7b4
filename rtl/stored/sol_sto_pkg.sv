// Commands, passes and memory map of the multiplier by stored transforms.
package sol_sto_pkg;
  import sol_pkg::*;

  typedef enum logic [1:0] {OP_MULTIPLY, OP_SQUARE, OP_TRANSFORM} op_e;

  // A pass and its counter, as in sol_mul_pkg. One kernel D takes one column at a time in every pass. Two take an even column
  // and the odd one behind it; the bit of the counter that tells them apart then stays 0. P3 always has one kernel.
  typedef enum logic [2:0] {IDLE, P1, P2, P3, IP2, IP3} pass_e;
  typedef struct packed { pass_e pass; logic round; logic [11:0] count; } control_t;

  /* verilator lint_off UNUSEDPARAM */
  localparam int LAT_HOLD   = 4;                              // sol_sto_carry
  // Stages, as cycles after the issue of a pass.
  localparam int AT_KERNEL  = 1 + LAT_NORM;                   // input of kernel D: digits that were turned
  localparam int AT_READ    = AT_KERNEL - LAT_RAM;            // reads of the arrays
  localparam int AT_MUL     = AT_KERNEL + LAT_D32;            // input of the multipliers behind kernel D
  localparam int AT_CARRY   = AT_KERNEL + LAT_D64;            // input of the carry lanes
  localparam int AT_WRITE   = AT_MUL + LAT_MULROT;            // input of the write network; input of kernel S
  localparam int AT_MUL_S   = AT_WRITE + LAT_S;               // input of the multipliers behind kernel S
  localparam int AT_WRITE_S = AT_MUL_S + LAT_MULROT;          // input of the write network in the middle pass
  localparam int AT_RESULT  = AT_CARRY + LAT_HOLD;            // output of the carry lanes
  localparam int STAGES     = AT_WRITE_S;
  /* verilator lint_on UNUSEDPARAM */

  // Cycles without an issue after a pass. The write network changes over behind P3 and, with two kernels, before IP3. In the
  // full instance the passes follow in an order in which a word is written at least 30 cycles before it is read; the small one
  // waits for its words.
  function automatic int wait_after(bit big, int kernels, pass_e pass, logic round);
    unique case (pass)
      P1:      return big ? max(0, AT_WRITE - 30) : AT_WRITE;
      P3:      return big | !round ? AT_WRITE_S - AT_WRITE : AT_WRITE_S;
      IP2:     return !round ? 0 : max(kernels == 2 ? AT_WRITE - AT_RESULT : 0, AT_WRITE - 30);
      default: return 0;
    endcase
  endfunction

  // Four half arrays of 16 banks: array {round, j2[0]}. Word (x, m, j2) is in bank fold(x) ^ fold(m) ^ j2[4:1], at the address
  // {x, m}, as in sol_mul_pkg. Pair g = {m2, j2[4:1]} of segment m of the product takes the place of word x = m[4:0] of
  // column j2 = {g[3:0], 0} in array {m[5], 0}.
  function automatic logic [3:0] fold(logic [4:0] x); return x[3:0] ^ {3'b0, x[4]}; endfunction
endpackage

// Commands, passes and memory map of the multiplier.
package sol_mul_pkg;
  import sol_pkg::*;

  typedef enum logic [1:0] {OP_MUL, OP_SQR} op_e;
  // The part of the product that is returned. PART_HIGH takes the ripple out of the low half as 0, so it may be one too small.
  typedef enum logic [1:0] {PART_ALL, PART_LOW, PART_HIGH} part_e;

  // A pass and its counter. Controls travel beside the data, so every stage knows what it holds.
  typedef enum logic [2:0] {IDLE, P1, P2, P3, IP2, IP3} pass_e;
  typedef struct packed { pass_e pass; logic round; logic [10:0] count; } control_t;

  // A design need not use all of these constants.
  /* verilator lint_off UNUSEDPARAM */
  // Stages, as cycles after the read of a pass.
  localparam int AT_KERNEL = LAT_RAM + LAT_XNET + 1;          // input of the kernels D
  localparam int AT_MUL32  = AT_KERNEL + LAT_D32;             // output of a kernel of 32 points, input of the multipliers
  localparam int AT_CARRY  = AT_KERNEL + LAT_D64;             // output of a kernel of 64 points, input of the carry lanes
  localparam int AT_WRITE  = AT_MUL32 + LAT_MULROT;           // input of the write networks
  localparam int AT_MUL_B  = AT_WRITE + LAT_S;                // output of kernel S, input of its multipliers
  localparam int AT_WRITE_B = AT_MUL_B + LAT_MULROT;          // input of write network B in the middle pass
  localparam int AT_RESULT = AT_CARRY + LAT_CARRY;            // output of the carry lanes
  localparam int STAGES    = AT_WRITE_B + 1;

  // Cycles without an issue after a pass. The passes of the full instance follow each other in an order in which a word is
  // written before it is read, if the write comes at most 34 cycles after the read. In the small instance a pass is shorter
  // than that and has to wait.
  function automatic int wait_after(bit big, pass_e pass, logic round);
    unique case (pass)
      P1:      return big ? max(0, AT_WRITE - 62) : AT_WRITE;
      P3:      return big | !round ? AT_WRITE_B - AT_WRITE : AT_WRITE_B;  // multipliers and write network B change over
      IP2:     return round ? max(AT_WRITE - AT_RESULT, AT_WRITE - 33) : 0;
      IP3:     return LAT_D64 - LAT_D32;
      default: return 0;
    endcase
  endfunction

  // Half arrays of 16 banks. Words of even j2 (or of the even digit of a pair) are in arrays of even number.
  typedef enum logic [2:0] {X0, X1, Y0, Y1, Z0, Z1} array_e;
  localparam int ARRAYS = 6;
  /* verilator lint_on UNUSEDPARAM */
  function automatic array_e array_a(logic round, logic odd); return round ? (odd ? Z1 : Z0) : odd ? X1 : X0; endfunction
  function automatic array_e array_b(logic round, logic odd); return odd ? (round ? X1 : Y1) : Y0; endfunction

  // Word (x, m, j) of a half array is in bank fold(x) ^ fold(m) ^ j, at the address {x, m}. Every access of a pass varies four
  // bits of one of the three indices over the lanes, and fold is one-to-one on x[3:0] and on x[4:1]. So the 16 lanes
  // meet 16 banks. Proved for all counters: rtl/formal/bank.sv.
  function automatic logic [3:0] fold(logic [4:0] x); return x[3:0] ^ {3'b0, x[4]}; endfunction
endpackage

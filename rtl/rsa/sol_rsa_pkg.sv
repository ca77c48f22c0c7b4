// Passes, latencies and the memory map of the RSA exponentiator.
//
// Digit n = 16 m + j of a number is in row m and column j: 32 rows for whole moduli, 16 rows for the halves of CRT. A transform
// takes two steps: kernels over the rows of each column, then kernels over the columns of each row.
package sol_rsa_pkg;
  import sol_pkg::*;
  /* verilator lint_off UNUSEDPARAM */
  parameter int LAT_DFT8 = 3 + LAT_NORM;               // sol_rsa_dft8
  parameter int LAT_K16 = LAT_DFT8 + 1 + 2 + LAT_NORM; // sol_rsa_kernel, first output of 16 points
  parameter int LAT_K32 = LAT_DFT8 + 3 + 2 + LAT_NORM; // sol_rsa_kernel, first output of 32 points
  parameter int LAT_S16 = 2 + 1 + LAT_NORM + LAT_DFT8; // sol_rsa_inverse, first output
  parameter int LAT_LOCAL = 4;                         // sol_rsa_carry, without the column by which it is late

  // Stages of a pass on unit A, as cycles after its issue.
  parameter int AT_DIGITS = LAT_RAM + 1;               // digits of a first step, by lanes
  parameter int AT_KERNEL = AT_DIGITS + 1 + LAT_NORM;  // input of kernel A
  parameter int AT_READ   = AT_KERNEL - LAT_RAM;       // reads of the arrays
  parameter int AT_MUL16  = AT_KERNEL + LAT_K16;       // input of the multipliers behind a kernel of 16 points
  parameter int AT_MUL32  = AT_KERNEL + LAT_K32;
  // Stages after the input of the multipliers.
  parameter int TO_SUBTRACT = 5;                       // sol_mulrot takes the subtrahend so much later than the factors
  parameter int TO_S      = LAT_MULROT;
  parameter int TO_TURN   = TO_S + LAT_S16;            // input of the multipliers behind kernel S
  parameter int TO_WRITE  = TO_TURN + LAT_MULROT;      // output of these multipliers
  parameter int TO_BANK   = 1;                         // from a word at the input of sol_rsa_words to a read of it
  // Stages of a pass on unit B, as cycles after its issue.
  parameter int AT_LAST   = LAT_RAM;                   // input of kernel B
  parameter int AT_TWIST16 = AT_LAST + LAT_K16;
  parameter int AT_TWIST32 = AT_LAST + LAT_K32;
  // Stages after the output of kernel B.
  parameter int TO_CARRY  = 1 + LAT_NORM + 1;           // input of sol_rsa_carry
  parameter int FILL = 4;                              // columns that sol_rsa_carry takes twice
  /* verilator lint_on UNUSEDPARAM */
  // A function need not use all bits of its argument.
  /* verilator lint_off UNUSEDSIGNAL */

  typedef enum logic [1:0] {OP_KEY, OP_EXPONENT, OP_POWER} op_e;
  // E_COMMAND: unknown, or its moduli or words are impossible. E_NO_KEY: a modulus has no key or no exponent of this length. E_EVEN:
  // the modulus is even. E_LONG: one of its two upper digits is not 0. E_INVERSE: N N' is not 1 modulo 2^n - 1.
  typedef enum logic [2:0] {E_NONE, E_COMMAND, E_NO_KEY, E_EVEN, E_LONG, E_INVERSE} error_e;

  // A pass on unit A. C is modulo 2^n - 1, N modulo 2^n + 1.
  //   FC FN  first step of a                       GC GN  first step of the second operand
  //   FM     first step of m (that of t is FC)     PC PN  second step, a b; PN keeps its spectrum
  //   PT PM  second step, t N', and m N - a b
  //   KC KN  second step of N' and N, kept as spectra
  typedef enum logic [3:0] {A_NONE, A_FC, A_FN, A_GC, A_GN, A_FM, A_PC, A_PN, A_PT, A_PM, A_KC, A_KN} a_pass_e;
  // A pass on unit B: last inverse step and carries.
  typedef enum logic [1:0] {B_NONE, B_DC, B_DN} b_pass_e;

  // Controls travel beside the data. `count` is the cycle of a pass.
  typedef struct packed {
    a_pass_e pass;
    logic thread;             // the modulus
    logic [5:0] count;
    logic second;             // a product of two operands, not a square
    logic one;                // the digits of 1, in place of the stored ones
    logic [3:0] index;        // the power that GC and GN take
  } a_control_t;
  typedef struct packed {
    b_pass_e pass;
    logic thread;
    logic [3:0] column;
    logic [1:0] step;
    logic fill;               // the column only fills the history of the carries
    logic keep;               // the result is also a power of the window
    logic [3:0] index;        // and which one
  } b_control_t;

  // Memory map. Word (row, column) of an array is in bank fold(row) ^ column[3:1], at the address {row, column[0]}. Digit
  // (row, column) is in bank fold(row), at the address {column, row[4:3]}. Halves of CRT have 16 rows; the modulus then
  // takes the place of the top bit of the row. Rows l + 8 s, rows (R/8) l + t, and columns 2 l + t meet eight banks each.
  function automatic logic [2:0] fold(logic [4:0] row); return {row[2], row[1] ^ row[4], row[0] ^ row[3]}; endfunction
  function automatic logic [5:0] word_address(logic half, logic thread, logic [4:0] row, logic low);
    return {half ? {thread, row[3:0]} : row, low};
  endfunction
  function automatic logic [5:0] digit_address(logic half, logic thread, logic [4:0] row, logic [3:0] column);
    return half ? {thread, column, row[3]} : {column, row[4:3]};
  endfunction
  // The lane that takes rows in order, lane l at step t row (R/8) l + t, from bank b: bank = order(l) ^ t for column 0.
  function automatic logic [2:0] order(logic half, logic [2:0] lane);
    return half ? {lane[1], lane[0], lane[2]} : {lane[0], lane[2], lane[1]};
  endfunction
  // The row that a bank gives for step t, where x = bank ^ t (^ column[3:1] for words).
  function automatic logic [4:0] row_of(logic half, logic [2:0] x, logic [1:0] t);
    return half ? {1'b0, x[0], x[2], x[1], t[0]} : {x[1], x[0], x[2], t};
  endfunction

  function automatic logic is_first(a_pass_e pass);
    return pass == A_FC | pass == A_FN | pass == A_GC | pass == A_GN | pass == A_FM;
  endfunction
  function automatic logic is_second(a_pass_e pass);
    return pass == A_PC | pass == A_PN | pass == A_PT | pass == A_PM | pass == A_KC | pass == A_KN;
  endfunction
  function automatic logic is_negative(a_pass_e pass);
    return pass == A_FN | pass == A_GN | pass == A_FM | pass == A_PN | pass == A_PM | pass == A_KN;
  endfunction
  // Row and step of a second step, column and step of a first one.
  function automatic logic [4:0] row_at(logic half, logic [5:0] count); return half ? {1'b0, count[4:1]} : count[5:1]; endfunction
  function automatic logic [3:0] column_at(logic half, logic [5:0] count); return half ? count[4:1] : count[5:2]; endfunction
  function automatic logic [1:0] step_at(logic half, logic [5:0] count); return half ? {1'b0, count[0]} : count[1:0]; endfunction

  // ROOT^(64 i), whose order is 1024; the 16th power is 8. Entries 16 to 23 are twice the entries 0, 2, ... 14.
  function automatic logic [63:0] power(int i);
    logic [63:0] step, result;
    step = ROOT;
    for (int k = 0; k < 6; k++) step = 64'((128'(step) * 128'(step)) % 128'(P));
    result = i < 16 ? 64'd1 : 64'd2;
    for (int k = 0; k < (i < 16 ? i : 2 * (i - 16)); k++) result = 64'((128'(result) * 128'(step)) % 128'(P));
    return result;
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */
endpackage

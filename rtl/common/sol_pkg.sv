// The field of p = 2^64 - 2^32 + 1 and the latencies of the leaves.
//
// In this field 2^96 = -1 and 2^192 = 1. A product by a power of two is therefore a rotation of 192 bits, and roots of unity
// of the orders 16, 32 and 64 are powers of two. A residue is any 64-bit number; a canonical residue is below p.
//
// A latency counts the rising edges from the one that takes the input to the one after which the output is valid.
package sol_pkg;
  // A design need not use all of these constants.
  /* verilator lint_off UNUSEDPARAM */
  parameter logic [63:0] P = 64'hFFFF_FFFF_0000_0001;
  // A root of unity of the order 65,536, with ROOT^1024 = 8 (wang2014 5.2).
  parameter logic [63:0] ROOT = 64'hdc92_18a8_6d10_f3a3;

  parameter int LAT_RAM    = 1;   // a bank, from the address to the word
  parameter int LAT_XNET   = 1;   // an interchange network and its register
  parameter int LAT_ROM    = 1;   // the table of twiddle factors
  parameter int LAT_NORM   = 2;   // sol_norm
  parameter int LAT_MULROT = 8;   // sol_mulrot
  parameter int LAT_DFT16  = 6;   // sol_dft16
  parameter int LAT_D32    = 11;  // sol_kernel_d, first output of 32 points
  parameter int LAT_D64    = 13;  // sol_kernel_d, first output of 64 points
  parameter int LAT_S      = 11;  // sol_kernel_s, first output
  parameter int LAT_CARRY  = 3;   // sol_carry
  /* verilator lint_on UNUSEDPARAM */

  typedef logic [63:0] residue_t;

  function automatic int max(int a, int b); return a > b ? a : b; endfunction
endpackage

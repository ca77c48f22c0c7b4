// Latencies of the blocks of the RSA exponentiator, counted as in sol_pkg.
package sol_rsa_pkg;
  import sol_pkg::*;
  /* verilator lint_off UNUSEDPARAM */
  parameter int LAT_DFT8 = 3 + LAT_NORM;               // sol_rsa_dft8
  parameter int LAT_K16 = LAT_DFT8 + 1 + 2 + LAT_NORM; // sol_rsa_kernel, first output of 16 points
  parameter int LAT_K32 = LAT_DFT8 + 3 + 2 + LAT_NORM; // sol_rsa_kernel, first output of 32 points
  parameter int LAT_S16 = 2 + 1 + LAT_NORM + LAT_DFT8; // sol_rsa_inverse, first output
  /* verilator lint_on UNUSEDPARAM */
endpackage

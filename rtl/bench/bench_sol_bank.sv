// sol_bank with 32 words. Vectors: {read, write} as a digit, the two addresses, the written word; the word that was read. A word
// is kept while no read comes, and a read that meets a write returns the old word. In gaps there is no write and no read.
module bench_sol_bank #(parameter int COUNT = 1);
  import sol_pkg::*;
  localparam logic [83:0] ENABLES = 84'h3 << 80;
  logic clk; logic [3:0] enables; logic [7:0] read, write; logic [63:0] in_word, out_word;
  logic [83:0] in;
  assign {enables, read, write, in_word} = in;
  bench_driver #(.COUNT(COUNT), .IN(84), .RESIDUES(1'b0), .QUIET(ENABLES)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'(LAT_RAM)), .out_i(out_word));
  sol_bank #(.LOG_WORDS(5)) u_dut (.clk_i(clk), .re_i(enables[1]), .ra_i(read[4:0]), .rd_o(out_word), .we_i(enables[0]),
    .wa_i(write[4:0]), .wd_i(in_word));
endmodule

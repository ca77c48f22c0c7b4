// sol_rsa_window with 8 words an entry. Vectors: {read, write} and the entry that is written as digits, the two
// addresses, the index, and the written word; the word that was read, compared bit by bit. In gaps there is no write
// and no read.
module bench_sol_rsa_window #(parameter int COUNT = 1);
  import sol_pkg::*;
  localparam logic [83:0] ENABLES = 84'h3 << 80;
  logic clk; logic [3:0] enables, entry, read, write, index; logic [63:0] word, out;
  logic [83:0] in;
  assign {enables, entry, read, write, index, word} = in;
  bench_driver #(.COUNT(COUNT), .IN(84), .RESIDUES(1'b0), .QUIET(ENABLES)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'(LAT_RAM + 1)), .out_i(out));
  sol_rsa_window #(.LOG_DEPTH(3), .W(64)) u_dut (.clk_i(clk), .re_i(enables[1]), .ra_i(read[2:0]), .index_i(index), .rd_o(out),
    .we_i(enables[0]), .entry_i(entry), .wa_i(write[2:0]), .wd_i(word));
endmodule

// An array of 512 words in 8 banks. Each bank is two memories, so that two moduli use it at a time.
//
// Two units read it and two write it, each in halves of its own: the schedule never lets two units meet in one memory and port.
// Latency of a read: LAT_RAM.
module sol_rsa_array (
  input  logic clk_i,
  input  logic a_re_i, b_re_i, input logic [7:0][5:0] a_ra_i, b_ra_i,
  output logic [7:0][63:0] a_rd_o, b_rd_o,
  input  logic f_we_i, s_we_i, input logic [7:0][5:0] f_wa_i, s_wa_i, input logic [7:0][63:0] f_wd_i, s_wd_i);

  for (genvar b = 0; b < 8; b++) begin : g_bank
    logic [63:0] rd [2]; logic a_upper, b_upper;
    for (genvar h = 0; h < 2; h++) begin : g_half
      wire a_reads = a_re_i & a_ra_i[b][5] == 1'(h);
      wire b_reads = b_re_i & b_ra_i[b][5] == 1'(h);
      wire f_writes = f_we_i & f_wa_i[b][5] == 1'(h);
      wire s_writes = s_we_i & s_wa_i[b][5] == 1'(h);
      sol_bank #(.LOG_WORDS(5), .W(64)) u_bank (.clk_i, .re_i(a_reads | b_reads),
        .ra_i(a_reads ? a_ra_i[b][4:0] : b_ra_i[b][4:0]), .rd_o(rd[h]), .we_i(f_writes | s_writes),
        .wa_i(f_writes ? f_wa_i[b][4:0] : s_wa_i[b][4:0]), .wd_i(f_writes ? f_wd_i[b] : s_wd_i[b]));
`ifndef SYNTHESIS
      always_ff @(posedge clk_i) begin
        if (a_reads & b_reads) $error("sol_rsa_array: two reads meet in a bank");
        if (f_writes & s_writes) $error("sol_rsa_array: two writes meet in a bank");
      end
`endif
    end
    always_ff @(posedge clk_i) begin a_upper <= a_ra_i[b][5]; b_upper <= b_ra_i[b][5]; end
    assign a_rd_o[b] = rd[a_upper];
    assign b_rd_o[b] = rd[b_upper];
  end
endmodule

// ok_o is 1 for every input: in each pass of sol_multiplier, lane l reads and writes exactly the word that the schedule gives it,
// in the bank of that word. A network is a permutation, so no two lanes meet.
module prove_multiplier_banks import sol_mul_pkg::*; #(parameter bit BIG = 1'b1, localparam int LOG_BEATS = BIG ? 12 : 7) (
  input control_t read_i, write_i, input logic [LOG_BEATS-1:0] unload_i, input logic [3:0] l_i,
  output logic ok_o);

  function automatic logic [3:0] bank(logic [4:0] x, logic [4:0] m, logic [3:0] j); return fold(x) ^ fold(m) ^ j; endfunction
  array_e array [2]; logic [3:0] read_sel, write_sel [2], unload_sel; logic [ARRAYS-1:0] write [2];
  logic [15:0][9:0] read_addr, write_addr [2], unload_addr;
  sol_mul_addresses #(.BIG(BIG), .LOG_BEATS(LOG_BEATS)) u_addresses (.read_i, .read_array_o(array), .read_sel_o(read_sel),
    .read_addr_o(read_addr), .write_i, .result_i(write_i), .middle_i(write_i), .write_o(write), .write_sel_o(write_sel),
    .write_addr_o(write_addr), .unload_i, .unload_sel_o(unload_sel), .unload_addr_o(unload_addr));

  // The word {x, m, j} of lane l, j = j2[4:1]; two indices do not exist in the small instance.
  wire [10:0] rc = read_i.count;
  wire [3:0] read_bank = read_sel ^ (read_i.pass == P3 ? l_i : {l_i[2:0], l_i[3]});
  logic [4:0] rx, rm; logic [3:0] rj; logic reads;
  always_comb begin
    reads = 1'b1; rx = '0; rm = '0; rj = '0;
    unique case (read_i.pass)
      P2:      begin rx = rc[10:6]; rm = {l_i, rc[0]}; rj = rc[5:2]; reads = BIG; end
      P3:      begin rx = BIG ? rc[10:6] : rc[5:1]; rm = BIG ? rc[5:1] : 5'd0; rj = l_i; end
      IP2:     begin rx = rc[9:5]; rm = {l_i, rc[0]}; rj = rc[4:1]; reads = BIG; end
      IP3:     begin rx = {l_i, rc[1]}; rm = rc[10:6]; rj = rc[5:2]; end
      default: reads = 1'b0;
    endcase
  end
  wire read_ok = !reads | (read_addr[read_bank] == {rx, rm} & bank(rx, rm, rj) == read_bank);

  wire [10:0] wc = write_i.count;
  wire one_net = write_i.pass == P3 | write_i.pass == IP3;       // network B alone writes
  wire [3:0] write_bank = write_sel[1] ^ l_i;
  logic [4:0] wx, wm; logic [3:0] wj; logic writes;
  always_comb begin
    writes = 1'b1; wx = '0; wm = '0; wj = '0;
    unique case (write_i.pass)
      P1:      begin wx = {wc[0], l_i}; wm = wc[10:6]; wj = wc[5:2]; end
      P2:      begin wx = wc[10:6]; wm = {wc[0], l_i}; wj = wc[5:2]; writes = BIG; end
      P3:      begin wx = BIG ? wc[10:6] : wc[5:1]; wm = BIG ? wc[5:1] : 5'd0; wj = l_i; end
      IP2:     begin wx = wc[9:5]; wm = {wc[0], l_i}; wj = wc[4:1]; writes = BIG; end
      // The pairs of segment l + 16 s, which is the place x = pair mod 32, m = the segment.
      IP3:     begin wx = BIG ? wc[6:2] : {wc[0], l_i}; wm = BIG ? {wc[0], l_i} : 5'd0; wj = BIG ? wc[10:7] : wc[5:2]; end
      default: writes = 1'b0;
    endcase
  end
  wire same = one_net | (write_sel[0] == write_sel[1] & write_addr[0] == write_addr[1]);
  wire write_ok = !writes | (write_addr[1][write_bank] == {wx, wm} & bank(wx, wm, wj) == write_bank & same);
  // No array is written by both networks, and none without a pass.
  wire apart = (write[0] & write[1]) == '0 & (write_i.pass != IDLE | (write[0] | write[1]) == '0);

  // Pair 8 c + i of a segment, i = l below 8.
  wire [3:0] unload_bank = unload_sel ^ {1'b0, l_i[2:0]};
  logic [4:0] ux, um; logic [3:0] uj;
  if (BIG) begin : g_unload
    assign ux = {unload_i[1:0], l_i[2:0]}; assign um = unload_i[10:6]; assign uj = unload_i[5:2];
  end else begin : g_unload
    assign ux = unload_i[5:1]; assign um = '0; assign uj = {unload_i[0], l_i[2:0]};
  end
  wire unload_ok = unload_addr[unload_bank] == {ux, um} & bank(ux, um, uj) == unload_bank;
  assign ok_o = read_ok & write_ok & apart & unload_ok;
endmodule

// ok_o is 1 for every input: in each pass of sol_stored, lane l reads and writes exactly the word that the schedule gives it, in
// the bank of that word. A network is a permutation, so no two lanes meet.
module prove_stored_banks import sol_sto_pkg::*; #(
  parameter bit BIG = 1'b1, parameter int KERNELS = 1, localparam int LOG_BEATS = BIG ? 12 : 7
) (
  input control_t read_i, write_i, input logic [LOG_BEATS-1:0] unload_i, input logic [3:0] l_i,
  output logic ok_o);

  function automatic logic [3:0] bank(logic [4:0] x, logic [4:0] m, logic [3:0] j); return fold(x) ^ fold(m) ^ j; endfunction
  logic [1:0] array; logic [3:0] read_sel, write, write_sel, unload_sel; logic [15:0][9:0] read_addr, write_addr; logic [9:0] unload_addr;
  sol_sto_addresses #(.BIG(BIG), .LOG_BEATS(LOG_BEATS), .KERNELS(KERNELS)) u_addresses (.read_i, .read_array_o(array),
    .read_sel_o(read_sel), .read_addr_o(read_addr), .write_i, .middle_i(write_i), .result_i(write_i), .write_o(write),
    .write_sel_o(write_sel), .write_addr_o(write_addr), .unload_i, .unload_sel_o(unload_sel), .unload_addr_o(unload_addr));

  // The word {x, m, j} of lane l, j = j2[4:1]; two indices do not exist in the small instance.
  wire [11:0] rc = read_i.count;
  wire [3:0] read_bank = read_sel ^ (read_i.pass == P3 ? l_i : {l_i[2:0], l_i[3]});
  logic [4:0] rx, rm; logic [3:0] rj; logic reads;
  always_comb begin
    reads = 1'b1; rx = '0; rm = '0; rj = '0;
    unique case (read_i.pass)
      P2, IP2: begin rx = rc[10:6]; rm = {l_i, rc[0]}; rj = rc[5:2]; reads = BIG; end
      P3:      begin rx = BIG ? rc[10:6] : rc[5:1]; rm = BIG ? rc[5:1] : 5'd0; rj = l_i; end
      IP3:     begin rx = {l_i, rc[1]}; rm = BIG ? rc[11:7] : 5'd0; rj = rc[6:3]; end
      default: reads = 1'b0;
    endcase
  end
  wire read_ok = !reads | (read_addr[read_bank] == {rx, rm} & bank(rx, rm, rj) == read_bank);

  wire [11:0] wc = write_i.count;
  wire [3:0] write_bank = write_sel ^ l_i;
  logic [4:0] wx, wm; logic [3:0] wj; logic writes;
  always_comb begin
    writes = 1'b1; wx = '0; wm = '0; wj = '0;
    unique case (write_i.pass)
      P1:      begin wx = {wc[0], l_i}; wm = BIG ? wc[10:6] : 5'd0; wj = wc[5:2]; end
      P2, IP2: begin wx = wc[10:6]; wm = {wc[0], l_i}; wj = wc[5:2]; writes = BIG; end
      P3:      begin wx = BIG ? wc[10:6] : wc[5:1]; wm = BIG ? wc[5:1] : 5'd0; wj = l_i; end
      IP3:     begin wx = {wc[0], l_i}; wm = BIG ? wc[11:7] : 5'd0; wj = wc[6:3]; writes = KERNELS == 2 | wc[2]; end
      default: writes = 1'b0;
    endcase
  end
  wire write_ok = !writes | (write_addr[write_bank] == {wx, wm} & bank(wx, wm, wj) == write_bank);
  // Without a pass nothing is written.
  wire none_ok = write_i.pass != IDLE | write == '0;

  wire [4:0] segment = unload_i[LOG_BEATS-2 -: 5];
  wire [4:0] um = BIG ? unload_i[5:1] : 5'd0;
  wire unload_ok = unload_addr == {segment, um} & bank(segment, um, {unload_i[0], l_i[2:0]}) == (unload_sel ^ {1'b0, l_i[2:0]});
  assign ok_o = read_ok & write_ok & none_ok & unload_ok;
endmodule

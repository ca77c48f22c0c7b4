// Banks, addresses and arrays of every pass (see sol_sto_pkg). Combinational. The lanes of a read have index 2 l + s or rounds
// and x = 2 l + s; those of a write have index l + 16 s.
//
// With two kernels the second one reads the array behind that of the first, and P1, P2 and IP2 write both.
module sol_sto_addresses import sol_sto_pkg::*; #(parameter bit BIG = 1'b1, parameter int LOG_BEATS = 12, parameter int KERNELS = 1) (
  input  control_t read_i,
  output logic [1:0] read_array_o, output logic [3:0] read_sel_o, output logic [15:0][9:0] read_addr_o,
  input  control_t write_i, middle_i, result_i,                        // of P1, P2 and IP2; of P3; of IP3
  output logic [3:0] write_o, write_sel_o, output logic [15:0][9:0] write_addr_o,
  input  logic [LOG_BEATS-1:0] unload_i, output logic [3:0] unload_sel_o, output logic [9:0] unload_addr_o);

  // The index that varies over the lanes of a read is 2 l + s: its bank is fold(2 l + s) = rotated l, xor s.
  function automatic logic [4:0] across(logic [3:0] bank, logic [3:0] sel, logic step);
    automatic logic [3:0] v = bank ^ sel;
    return {v[0], v[3:1], step};
  endfunction

  wire [11:0] rc = read_i.count;
  wire [4:0] mid_x = BIG ? rc[10:6] : rc[5:1];
  wire [4:0] mid_m = BIG ? rc[5:1] : 5'd0;
  wire [4:0] pair_m = BIG ? rc[11:7] : 5'd0;
  always_comb begin
    read_array_o = '0; read_sel_o = '0; read_addr_o = '0;
    unique case (read_i.pass)
      P2, IP2: begin  // over m2, over k2
        read_array_o = {read_i.round, rc[1]};
        read_sel_o = fold(rc[10:6]) ^ rc[5:2] ^ {3'b0, rc[0]};
        for (int b = 0; b < 16; b++) read_addr_o[b] = {rc[10:6], across(4'(b), read_sel_o, rc[0])};
      end
      P3: begin       // over j2
        read_array_o = {read_i.round, rc[0]};
        read_sel_o = fold(mid_x) ^ fold(mid_m);
        for (int b = 0; b < 16; b++) read_addr_o[b] = {mid_x, mid_m};
      end
      IP3: begin      // over k1 = 4 l + s: round s[0], x = 2 l + s[1]
        read_array_o = {rc[0], rc[2]};
        read_sel_o = fold(pair_m) ^ rc[6:3] ^ {3'b0, rc[1]};
        for (int b = 0; b < 16; b++) read_addr_o[b] = {across(4'(b), read_sel_o, rc[1]), pair_m};
      end
      default: ;
    endcase
  end

  wire [11:0] wc = write_i.count;
  wire [11:0] mc = middle_i.count;
  wire [11:0] pc = result_i.count;
  wire [4:0] out_x = BIG ? mc[10:6] : mc[5:1];
  wire [4:0] out_m = BIG ? mc[5:1] : 5'd0;
  wire [4:0] column_m = BIG ? wc[10:6] : 5'd0;
  wire [4:0] result_m = BIG ? pc[11:7] : 5'd0;
  wire [3:0] columns = (KERNELS == 2 ? 4'b11 : 4'b1 << wc[1]) << {write_i.round, 1'b0};
  always_comb begin
    write_o = '0; write_sel_o = '0; write_addr_o = '0;
    unique case (write_i.pass)
      P1: begin       // over x = l + 16 s
        write_o = columns;
        write_sel_o = {3'b0, wc[0]} ^ fold(column_m) ^ wc[5:2];
        for (int b = 0; b < 16; b++) write_addr_o[b] = {wc[0], 4'(b) ^ write_sel_o, column_m};
      end
      P2, IP2: begin  // over k2, over m2
        write_o = columns;
        write_sel_o = {3'b0, wc[0]} ^ fold(wc[10:6]) ^ wc[5:2];
        for (int b = 0; b < 16; b++) write_addr_o[b] = {wc[10:6], wc[0], 4'(b) ^ write_sel_o};
      end
      default: ;
    endcase
    if (middle_i.pass == P3) begin            // over j2 = 2 l + s
      write_o = 4'b1 << {middle_i.round, mc[0]}; write_sel_o = fold(out_x) ^ fold(out_m);
      for (int b = 0; b < 16; b++) write_addr_o[b] = {out_x, out_m};
    end
    if (result_i.pass == IP3 & (KERNELS == 2 | pc[2])) begin   // pairs over m = l + 16 s
      write_o = 4'b1 << {pc[1], 1'b0}; write_sel_o = {3'b0, pc[0]} ^ fold(result_m) ^ pc[6:3];
      for (int b = 0; b < 16; b++) write_addr_o[b] = {pc[0], 4'(b) ^ write_sel_o, result_m};
    end
  end

  // 8 neighbouring pairs: of segment m, they differ in j2 alone.
  wire [4:0] segment = unload_i[LOG_BEATS-2 -: 5];
  wire [4:0] unload_m = BIG ? unload_i[5:1] : 5'd0;
  assign unload_sel_o = fold(segment) ^ fold(unload_m) ^ {unload_i[0], 3'b0};
  assign unload_addr_o = {segment, unload_m};
  wire unused = ^{result_i.round, rc[11], wc[11], mc[11], unload_i[LOG_BEATS-1], pc[11]};
endmodule

// Banks, addresses and arrays of every pass (see fold in sol_mul_pkg). Combinational.
//
// An index pair {x, m} is an address, and the third index j selects the bank with them. Over the lanes, one of the three
// varies; `read_sel_o` and `write_sel_o` tell the networks which lane goes to which bank.
module sol_mul_addresses import sol_mul_pkg::*; #(parameter bit BIG = 1'b1, parameter int LOG_BEATS = 12) (
  // Reads of a pass.
  input  control_t read_i,
  output array_e read_array_o [2], output logic [3:0] read_sel_o, output logic [15:0][9:0] read_addr_o,
  // Writes: of the kernels' products, of the carry lanes, and of the middle pass (network B alone).
  input  control_t write_i, result_i, middle_i,
  output logic [ARRAYS-1:0] write_o [2], output logic [3:0] write_sel_o [2], output logic [15:0][9:0] write_addr_o [2],
  // Reads of the unload: 8 neighbouring pairs.
  input  logic [LOG_BEATS-1:0] unload_i,
  output logic [3:0] unload_sel_o, output logic [15:0][9:0] unload_addr_o);

  // The index that varies over the lanes of a read is 2 l + s: its bank is fold(2 l + s) = rotated l, xor s.
  function automatic logic [4:0] across(logic [3:0] bank, logic [3:0] sel, logic step);
    automatic logic [3:0] v = bank ^ sel;
    return {v[0], v[3:1], step};
  endfunction

  wire [10:0] rc = read_i.count;
  wire [4:0] mid_x = BIG ? rc[10:6] : rc[5:1];
  wire [4:0] mid_m = BIG ? rc[5:1] : 5'd0;
  always_comb begin
    read_array_o[0] = X0; read_array_o[1] = Y0; read_sel_o = '0; read_addr_o = '0;
    unique case (read_i.pass)
      P2: begin       // over m2
        read_array_o[0] = array_a(read_i.round, rc[1]); read_array_o[1] = array_b(read_i.round, rc[1]);
        read_sel_o = fold(rc[10:6]) ^ rc[5:2] ^ {3'b0, rc[0]};
        for (int b = 0; b < 16; b++) read_addr_o[b] = {rc[10:6], across(4'(b), read_sel_o, rc[0])};
      end
      P3: begin       // over j2
        read_array_o[0] = array_a(read_i.round, rc[0]); read_array_o[1] = array_b(read_i.round, rc[0]);
        read_sel_o = fold(mid_x) ^ fold(mid_m);
        for (int b = 0; b < 16; b++) read_addr_o[b] = {mid_x, mid_m};
      end
      IP2: begin      // over k2: kernel A even j2, kernel B odd j2
        read_array_o[0] = array_a(read_i.round, 1'b0); read_array_o[1] = array_b(read_i.round, 1'b1);
        read_sel_o = fold(rc[9:5]) ^ rc[4:1] ^ {3'b0, rc[0]};
        for (int b = 0; b < 16; b++) read_addr_o[b] = {rc[9:5], across(4'(b), read_sel_o, rc[0])};
      end
      IP3: begin      // over k1 = 4 l + s: round s[0], x = 2 l + s[1]
        read_array_o[0] = array_a(rc[0], 1'b0); read_array_o[1] = array_b(rc[0], 1'b1);
        read_sel_o = fold(rc[10:6]) ^ rc[5:2] ^ {3'b0, rc[1]};
        for (int b = 0; b < 16; b++) read_addr_o[b] = {across(4'(b), read_sel_o, rc[1]), rc[10:6]};
      end
      default: ;
    endcase
  end

  wire [10:0] wc = write_i.count;
  wire [10:0] pc = result_i.count;
  wire [10:0] mc = middle_i.count;
  wire [4:0] out_x = BIG ? mc[10:6] : mc[5:1];
  wire [4:0] out_m = BIG ? mc[5:1] : 5'd0;
  always_comb begin
    write_o[0] = '0; write_o[1] = '0; write_sel_o[0] = '0; write_sel_o[1] = '0; write_addr_o[0] = '0;
    unique case (write_i.pass)
      P1: begin       // over x = l + 16 s
        write_sel_o[0] = {3'b0, wc[0]} ^ fold(wc[10:6]) ^ wc[5:2];
        for (int b = 0; b < 16; b++) write_addr_o[0][b] = {wc[0], 4'(b) ^ write_sel_o[0], wc[10:6]};
        write_o[0][array_a(write_i.round, wc[1])] = 1'b1; write_o[1][array_b(write_i.round, wc[1])] = 1'b1;
      end
      P2: begin       // over k2 = l + 16 s
        write_sel_o[0] = {3'b0, wc[0]} ^ fold(wc[10:6]) ^ wc[5:2];
        for (int b = 0; b < 16; b++) write_addr_o[0][b] = {wc[10:6], wc[0], 4'(b) ^ write_sel_o[0]};
        write_o[0][array_a(write_i.round, wc[1])] = 1'b1; write_o[1][array_b(write_i.round, wc[1])] = 1'b1;
      end
      IP2: begin      // over m2 = l + 16 s
        write_sel_o[0] = {3'b0, wc[0]} ^ fold(wc[9:5]) ^ wc[4:1];
        for (int b = 0; b < 16; b++) write_addr_o[0][b] = {wc[9:5], wc[0], 4'(b) ^ write_sel_o[0]};
        write_o[0][array_a(write_i.round, 1'b0)] = 1'b1; write_o[1][array_b(write_i.round, 1'b1)] = 1'b1;
      end
      default: ;
    endcase
    write_sel_o[1] = write_sel_o[0]; write_addr_o[1] = write_addr_o[0];
    // Pairs of digits: segment m = l + 16 s, pair g of the segment; over m.
    if (result_i.pass == IP3) begin
      write_sel_o[1] = {3'b0, pc[0]} ^ (BIG ? fold(pc[6:2]) ^ pc[10:7] : pc[5:2]);
      for (int b = 0; b < 16; b++)
        write_addr_o[1][b] = BIG ? {pc[6:2], pc[0], 4'(b) ^ write_sel_o[1]} : {pc[0], 4'(b) ^ write_sel_o[1], 5'd0};
      write_o[1][pc[1] ? Z1 : Y0] = 1'b1;
    end
    if (middle_i.pass == P3) begin    // over j2 = 2 l + s
      write_sel_o[1] = fold(out_x) ^ fold(out_m);
      for (int b = 0; b < 16; b++) write_addr_o[1][b] = {out_x, out_m};
      write_o[1] = '0;
      write_o[1][mc[0] ? array_b(middle_i.round, 1'b1) : array_a(middle_i.round, 1'b0)] = 1'b1;
    end
  end

  wire unused_round = result_i.round;

  // Pairs g = 8 c + i, i in lanes 0 to 7.
  wire [LOG_BEATS-1:0] uc = unload_i;
  if (BIG) begin : g_unload
    assign unload_sel_o = {uc[0], 3'b0} ^ {3'b0, uc[1]} ^ fold(uc[10:6]) ^ uc[5:2];
    for (genvar b = 0; b < 16; b++) begin : g_bank
      wire [3:0] v = 4'(b) ^ unload_sel_o;
      assign unload_addr_o[b] = {uc[1:0], v[2:0], uc[10:6]};
      wire unused = v[3];
    end
    wire unused = uc[11];
  end else begin : g_unload
    assign unload_sel_o = fold(uc[5:1]) ^ {uc[0], 3'b0};
    for (genvar b = 0; b < 16; b++) begin : g_bank assign unload_addr_o[b] = {uc[5:1], 5'd0}; end
    wire unused = uc[6];
  end
endmodule

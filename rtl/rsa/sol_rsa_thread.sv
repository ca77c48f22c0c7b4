// The products of one modulus: asks for the passes of a power, in their order and not before what they read is written.
//
// A power is 15 products for the window and one for its power 0, then four squares and a product for each window of the exponent,
// and a product by 1 at the end. Each link of the chain FC PC DT FT PT DM FM PM DW has a least distance; FN and PN follow FC and PC.
// The first steps of a second operand, GC and GN, come in gaps of the product before. The order of the passes does not depend on
// any secret; only the power that GC and GN choose does.
//
// `a_o` and `b_o` are what the thread asks for. A grant lets the pass start in the next cycle.
module sol_rsa_thread import sol_rsa_pkg::*; (
  input  logic clk_i, rst_ni, half_i, thread_i,
  input  logic start_i, output logic busy_o,
  output a_control_t a_o, input logic a_grant_i,
  output b_control_t b_o, input logic b_grant_i,
  input  logic [3:0] window_i, input logic empty_i, output logic next_o);

  typedef enum logic [2:0] {TABLE, ONE, SQUARE, MULTIPLY, LAST} kind_e;
  typedef enum logic [3:0] {FC, PC, DT, FT, PT, DM, FM, PM, DW} link_e;
  kind_e kind; link_e link; logic [3:0] entry; logic [1:0] squares; logic [7:0] timer;
  logic active, ending, fn, pn, gc, gn, g_late, g_one; logic [3:0] g_index;
  assign busy_o = active;

  // Least distances between the starts of two passes, minus the cycle in which the timer is 0 and that of the request's register.
  // Every word is written before it is read. A first step writes row 0 of the last column in its cycle 60, or 30 for halves; the
  // second step reads it in its cycle 1. A second step writes the last row in cycles 62 and 63, or 30 and 31; the last inverse step reads it in its cycles 3 and 7,
  // or 1 and 3. A column of digits is written before its first row is read.
  localparam int FIRST16 = 29 + AT_MUL16 + TO_S + TO_BANK - AT_READ - 2;
  localparam int FIRST32 = 59 + AT_MUL32 + TO_S + TO_BANK - AT_READ - 2;
  localparam int SECOND  = AT_MUL16 + TO_WRITE + TO_BANK - 2;
  localparam int DIGITS2 = 2 * (FILL + 2) + AT_TWIST16 + TO_CARRY + LAT_LOCAL - 2;
  localparam int DIGITS4 = 4 * (FILL + 2) + AT_TWIST32 + TO_CARRY + LAT_LOCAL - 2;
  wire [7:0] after_first  = half_i ? 8'(FIRST16) : 8'(FIRST32);
  wire [7:0] after_second = half_i ? 8'(SECOND + 29) : 8'(SECOND + 59);
  wire [7:0] after_digits = half_i ? 8'(DIGITS2) : 8'(DIGITS4);

  // The next product.
  kind_e next_kind; logic [3:0] next_entry;
  always_comb begin
    next_entry = entry + 4'd1;
    unique case (kind)
      TABLE:    next_kind = entry == 4'd15 ? ONE : TABLE;
      ONE:      next_kind = SQUARE;
      SQUARE:   next_kind = squares == 2'd3 ? MULTIPLY : SQUARE;
      MULTIPLY: next_kind = empty_i ? LAST : SQUARE;
      default:  next_kind = LAST;
    endcase
  end
  wire next_second = kind != LAST & next_kind != SQUARE;

  // Requests.
  wire due = timer == '0;
  wire g_allowed = !g_late | (link == FC & due);
  wire second = kind != SQUARE;
  wire on_b = link inside {DT, DM, DW};
  always_comb begin
    a_o = '0;
    a_o.thread = thread_i;
    if (active & !ending) begin
      if (fn) begin a_o.pass = A_FN; a_o.one = kind == ONE; end
      else if (pn) begin a_o.pass = A_PN; a_o.second = second; end
      else if (gc & g_allowed) begin a_o.pass = A_GC; a_o.one = g_one; a_o.index = g_index; end
      else if (gn & g_allowed) begin a_o.pass = A_GN; a_o.one = g_one; a_o.index = g_index; end
      else if (due)
        unique case (link)
          FC:      begin a_o.pass = gc | gn ? A_NONE : A_FC; a_o.one = kind == ONE; end
          PC:      begin a_o.pass = A_PC; a_o.second = second; end
          FT:      a_o.pass = A_FC;
          PT:      a_o.pass = A_PT;
          FM:      a_o.pass = A_FM;
          PM:      a_o.pass = A_PM;
          default: a_o.pass = A_NONE;
        endcase
    end
    b_o = '0;
    b_o.thread = thread_i;
    if (active & !ending & on_b & due) begin
      b_o.pass = link == DW ? B_DN : B_DC;
      b_o.keep = link == DW & kind inside {TABLE, ONE};
      b_o.index = kind == TABLE ? entry : 4'd0;
    end
  end
  // A request that is none of the fills is a link of the chain.
  wire fills = fn | pn | (gc & g_allowed) | (gn & g_allowed);
  wire link_grant = (a_grant_i & !fills) | b_grant_i;
  assign next_o = a_grant_i & !fills & link == FC & kind == MULTIPLY;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      active <= 1'b0; ending <= 1'b0; fn <= 1'b0; pn <= 1'b0; gc <= 1'b0; gn <= 1'b0; g_late <= 1'b0; timer <= '0;
      kind <= TABLE; link <= FC; entry <= '0; squares <= '0; g_one <= 1'b0; g_index <= '0;
    end else begin
      if (timer != '0) timer <= timer - 8'd1;
      if (a_grant_i) begin
        if (fn) fn <= 1'b0;
        else if (pn) pn <= 1'b0;
        else if (gc & g_allowed) gc <= 1'b0;
        else if (gn & g_allowed) gn <= 1'b0;
      end
      if (start_i) begin
        active <= 1'b1; ending <= 1'b0; kind <= TABLE; link <= FC; entry <= 4'd1; timer <= '0;
        gc <= 1'b1; gn <= 1'b1; g_late <= 1'b1; g_one <= 1'b0; g_index <= '0;
      end else if (ending) begin
        if (due) active <= 1'b0;
      end else if (link_grant) begin
        link <= link == DW ? FC : link_e'(link + 4'd1);
        unique case (link)
          FC:     fn <= 1'b1;
          PC:     begin pn <= 1'b1; timer <= after_second; end
          FT, FM: timer <= after_first;
          PT: begin
            timer <= after_second;
            if (next_second) begin
              gc <= 1'b1; g_late <= kind == TABLE & entry == 4'd1; g_one <= next_kind == LAST;
              g_index <= next_kind == MULTIPLY ? window_i : {3'b0, next_kind == TABLE};
            end
          end
          PM:     begin timer <= after_second; gn <= next_second; end
          DW: begin
            timer <= after_digits; kind <= next_kind; entry <= next_entry;
            squares <= kind == SQUARE ? squares + 2'd1 : 2'd0;
            // The last digits are written after the whole pass.
            if (kind == LAST) begin ending <= 1'b1; timer <= 8'd127; end
          end
          default: timer <= after_digits;
        endcase
      end
    end
endmodule

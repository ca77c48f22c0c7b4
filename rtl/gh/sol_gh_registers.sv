// The register port: 64-bit words, one cycle of latency for reads. Registers, the list store and the program store (see the
// memory map in docs/book/hardware.md). While a program runs, writes other than to the interrupt mask are refused: E_BUSY.
module sol_gh_registers import sol_gh_pkg::*; (
  input  logic        clk_i, rst_ni,
  input  logic        reg_we_i, input logic [15:0] reg_addr_i, input logic [63:0] reg_wdata_i, output logic [63:0] reg_rdata_o,
  output logic        irq_o,
  // to and from the sequencer
  output logic        start_o, output logic [LOG_PROGRAM-1:0] entry_o,
  input  logic        busy_i, done_i, error_we_i, bit_we_i, result_i, input error_e error_i,
  input  logic [LOG_PROGRAM-1:0] program_addr_i, output instruction_t instruction_o,
  input  logic [LOG_LIST-1:0] list_addr_i, output term_t list_o,
  // settings
  output addr_t       base_o, table_o,
  output place_t      shift_o, point_o, ratio_o, guard_o,
  output logic [LOG_CANDIDATES:0] count_o, output logic [2:0] precision_o,
  output logic        bit_o, output logic [15:0] odd_o);

  logic [63:0] words [R_BASE:R_BITS];
  logic irq_mask, done, result, busy_q; error_e error; logic [63:0] cycles;
  assign base_o = words[R_BASE][31:0];
  assign table_o = words[R_TABLE][31:0];
  assign shift_o = words[R_SHIFT][21:0];
  assign point_o = words[R_POINT][21:0];
  assign ratio_o = words[R_RATIO][21:0];
  assign guard_o = words[R_GUARD][21:0];
  assign {precision_o, count_o} = words[R_SIZE][LOG_CANDIDATES+3:0];
  assign {odd_o, bit_o} = words[R_BITS][16:0];
  assign irq_o = done & irq_mask;

  wire set = reg_we_i & !busy_i;
  wire command = reg_we_i & reg_addr_i == R_COMMAND;
  assign start_o = command & !busy_i;
  assign entry_o = reg_wdata_i[LOG_PROGRAM-1:0];

  always_ff @(posedge clk_i) begin
    if (set & reg_addr_i >= R_BASE & reg_addr_i <= R_BITS) words[reg_addr_i] <= reg_wdata_i;
  end
  sol_bank #(.LOG_WORDS(LOG_LIST), .W($bits(term_t))) u_list (.clk_i, .re_i(1'b1), .ra_i(list_addr_i), .rd_o(list_o),
    .we_i(set & reg_addr_i[15:14] == 2'b01), .wa_i(reg_addr_i[LOG_LIST-1:0]), .wd_i(reg_wdata_i[$bits(term_t)-1:0]));
  sol_bank #(.LOG_WORDS(LOG_PROGRAM), .W(64)) u_program (.clk_i, .re_i(1'b1), .ra_i(program_addr_i), .rd_o(instruction_o),
    .we_i(set & reg_addr_i[15]), .wa_i(reg_addr_i[LOG_PROGRAM-1:0]), .wd_i(reg_wdata_i));

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      irq_mask <= 1'b0; done <= 1'b0; result <= 1'b0; error <= E_NONE; cycles <= '0; busy_q <= 1'b0;
    end else begin
      busy_q <= busy_i;
      if (reg_we_i & reg_addr_i == R_IRQ) irq_mask <= reg_wdata_i[0];
      if (start_o) begin done <= 1'b0; result <= 1'b0; error <= E_NONE; cycles <= '0; end
      else begin
        if (busy_i) cycles <= cycles + 64'd1;
        if (done_i) done <= 1'b1;
        if (bit_we_i) result <= result_i;
        if (error_we_i) error <= error_i;
        else if (reg_we_i & busy_i & reg_addr_i != R_IRQ) error <= E_BUSY;
      end
    end

  always_ff @(posedge clk_i)
    unique case (reg_addr_i)
      R_ID:     reg_rdata_o <= 64'(ID);
      R_STATUS: reg_rdata_o <= 64'({result, error, done, busy_i | busy_q});
      R_IRQ:    reg_rdata_o <= 64'(irq_mask);
      R_CYCLES: reg_rdata_o <= cycles;
      default:  reg_rdata_o <= reg_addr_i >= R_BASE && reg_addr_i <= R_BITS ? words[reg_addr_i] : '0;
    endcase
endmodule

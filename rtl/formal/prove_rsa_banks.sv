// ok_o is 1 for every input: the eight lanes of sol_rsa meet eight banks in each kind of access, each lane finds its own word, and
// no two words or digits share a place.
module prove_rsa_banks import sol_rsa_pkg::*; (
  input logic half_i, input logic [2:0] l_i, k_i, input logic [1:0] t_i,
  input logic thread_i, other_thread_i, input logic [4:0] row_i, other_row_i, input logic [3:0] column_i, other_column_i,
  output logic ok_o);

  function automatic logic [2:0] bank(logic [4:0] row, logic [3:0] column); return fold(row) ^ column[3:1]; endfunction
  // Halves have 16 rows and steps of one bit; whole moduli have one thread.
  wire legal = half_i ? !row_i[4] & !other_row_i[4] & !t_i[1] : !thread_i & !other_thread_i;

  // Rows (R/8) l + t of a column, as kernels take them; bank order(l) ^ t ^ column.
  function automatic logic [4:0] taken(logic half, logic [2:0] l, logic [1:0] t); return half ? {1'b0, l, t[0]} : {l, t}; endfunction
  wire [2:0] take_bank = order(half_i, l_i) ^ {1'b0, t_i} ^ column_i[3:1];
  wire take = bank(taken(half_i, l_i, t_i), column_i) == take_bank
            & row_of(half_i, take_bank ^ column_i[3:1] ^ {1'b0, t_i}, t_i) == taken(half_i, l_i, t_i);
  // Rows l + 8 s of a column, as kernels give them: bank l ^ s ^ column.
  wire [4:0] given = half_i ? {1'b0, t_i[0], l_i} : {t_i, l_i};
  wire give = bank(given, column_i) == (l_i ^ {1'b0, t_i} ^ column_i[3:1]);
  // Columns 2 l + t of a row: bank l ^ fold(row).
  wire across = bank(row_i, {l_i, t_i[0]}) == (l_i ^ fold(row_i));
  // Lanes take different banks.
  wire differ = l_i == k_i | (order(half_i, l_i) != order(half_i, k_i));
  // Places are one-to-one.
  wire same = thread_i == other_thread_i & row_i == other_row_i & column_i == other_column_i;
  wire word = same | bank(row_i, column_i) != bank(other_row_i, other_column_i)
            | word_address(half_i, thread_i, row_i, column_i[0]) != word_address(half_i, other_thread_i, other_row_i, other_column_i[0]);
  wire digit = same | fold(row_i) != fold(other_row_i)
             | digit_address(half_i, thread_i, row_i, column_i) != digit_address(half_i, other_thread_i, other_row_i, other_column_i);
  assign ok_o = !legal | (take & give & across & differ & word & digit);
endmodule

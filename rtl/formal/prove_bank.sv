// ok_o is 1 for every input: two lanes of a pass never meet in a bank, and no two words share a place.
module prove_bank import sol_mul_pkg::*; (
  input logic [4:0] x_i, m_i, y_i, n_i, input logic [3:0] j_i, k_i, l0_i, l1_i, input logic s_i, input logic [8:0] g_i,
  output logic ok_o);
  function automatic logic [3:0] bank(logic [4:0] x, logic [4:0] m, logic [3:0] j); return fold(x) ^ fold(m) ^ j; endfunction
  wire differ = l0_i != l1_i;
  wire low   = bank({s_i, l0_i}, m_i, j_i) != bank({s_i, l1_i}, m_i, j_i);      // writes over x = l + 16 s; over m by symmetry
  wire high  = bank(x_i, {l0_i, s_i}, j_i) != bank(x_i, {l1_i, s_i}, j_i);      // reads over m = 2 l + s; over x by symmetry
  wire third = bank(x_i, m_i, l0_i) != bank(x_i, m_i, l1_i);                    // the middle pass, over j
  wire pairs = bank(g_i[4:0], {s_i, l0_i}, g_i[8:5]) != bank(g_i[4:0], {s_i, l1_i}, g_i[8:5]);   // result pairs
  wire leave = bank({s_i, l0_i}, m_i, g_i[8:5]) != bank({s_i, l1_i}, m_i, g_i[8:5]);             // unload
  // The place of a word: its bank, and the address {x, m}.
  wire one   = !(bank(x_i, m_i, j_i) == bank(y_i, n_i, k_i) && {x_i, m_i} == {y_i, n_i}) || j_i == k_i;
  assign ok_o = (!differ || (low && high && third && pairs && leave)) && one;
endmodule

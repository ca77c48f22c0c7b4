// HEXL's transforms with C linkage, for bench-ntt. Ours; linked against a library that the user has.

#include <cstdint>
#include <exception>

#include "hexl/hexl.hpp"

using intel::hexl::NTT;

extern "C" {

const char* hexl_version() { return PEER_VERSION; }

// The kernel that HEXL chooses for a transform on a CPU with AVX-512 and IFMA, by its limits.
const char* hexl_kernel(std::uint64_t n, std::uint64_t q) {
    if (n < 16) return "scalar";
    if (q < NTT::s_max_fwd_ifma_modulus) return "ifma";
    return "dq";
}

// Returns null for a prime that HEXL refuses.
void* hexl_new(std::uint64_t n, std::uint64_t q) {
    try {
        return new NTT(n, q);
    } catch (const std::exception&) {
        return nullptr;
    }
}

// Canonical residues in and out.
void hexl_forward(void* ntt, std::uint64_t* x) { static_cast<NTT*>(ntt)->ComputeForward(x, x, 1, 1); }

void hexl_inverse(void* ntt, std::uint64_t* x) { static_cast<NTT*>(ntt)->ComputeInverse(x, x, 1, 1); }

void hexl_multiply(std::uint64_t* x, const std::uint64_t* y, std::uint64_t n, std::uint64_t q) {
    intel::hexl::EltwiseMultMod(x, x, y, n, q, 1);
}

void hexl_drop(void* ntt) { delete static_cast<NTT*>(ntt); }
}

// The peer: HElib's BGV, driven by lines on standard input. Ours; linked against a library that the user has.
//
//   helib N DEPTH BITS P      ring dimension, multiplications in sequence, bits of each of the DEPTH + 1 primes, plaintext modulus
//
// The protocol and the names of the operations are those of README.md. One thread. HElib chooses primes of its own, whose
// product has at least (DEPTH + 1) * BITS bits, and three groups for the key switch.

#include <helib/helib.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    using namespace helib;
    if (argc != 5) {
        std::cerr << "usage: helib N DEPTH BITS P\n";
        return 2;
    }
    const long n = std::strtol(argv[1], nullptr, 10), depth = std::strtol(argv[2], nullptr, 10);
    const long bits = std::strtol(argv[3], nullptr, 10), p = std::strtol(argv[4], nullptr, 10);

    const Context context = ContextBuilder<BGV>().m(2 * n).p(p).r(1).bits((depth + 1) * bits).c(3).build();
    SecKey secret_key(context);
    secret_key.GenSecKey();
    addSome1DMatrices(secret_key);
    const PubKey public_key(secret_key);
    const EncryptedArray& slots_of = context.getEA();

    std::vector<long> slots(slots_of.size());
    for (std::size_t i = 0; i < slots.size(); i++) slots[i] = static_cast<long>(i * i % 211);
    EncodedPtxt plaintext;
    slots_of.encode(plaintext, slots);
    Ctxt x(public_key), y(public_key), out(public_key);
    public_key.Encrypt(x, plaintext);
    public_key.Encrypt(y, plaintext);
    NTL::ZZX decrypted;
    // A product leaves the special primes of the key switch in the modulus until they are dropped.
    const auto multiply = [&] {
        out = x;
        out.multiplyBy(y);
    };
    const auto composed = [&] {
        multiply();
        out.dropSmallAndSpecialPrimes();
    };
    const std::map<std::string, std::function<void()>> work = {
        {"encrypt", [&] { public_key.Encrypt(out, plaintext); }},
        {"decrypt", [&] { secret_key.Decrypt(decrypted, x); }},
        {"add",
         [&] {
             out = x;
             out += y;
         }},
        {"multiply", multiply},
        {"composed", composed},
        {"rotate",
         [&] {
             out = x;
             slots_of.rotate1D(out, 0, 1);
         }},
    };
    std::cout << "ready " << version::asString << ' ' << std::lround(context.logOfProduct(context.getCtxtPrimes()) / std::log(2.0)) << ' '
              << PEER_BUILD << std::endl;
    for (std::string what; std::cin >> what;) {
        if (what == "check") {
            composed();
            std::vector<long> got;
            slots_of.decrypt(out, secret_key, got);
            bool right = got.size() == slots.size() && out.isCorrect();
            for (std::size_t i = 0; right && i < got.size(); i++) right = got[i] == slots[i] * slots[i] % p;
            std::cout << (right ? "right" : "wrong") << std::endl;
            continue;
        }
        long count;
        std::cin >> count;
        const auto start = std::chrono::steady_clock::now();
        for (long i = 0; i < count; i++) work.at(what)();
        const auto time = std::chrono::steady_clock::now() - start;
        std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(time).count() << std::endl;
    }
}

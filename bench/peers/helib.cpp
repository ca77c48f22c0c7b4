// The peer: HElib's BGV, driven by lines on standard input. Ours; linked against a library that the user has.
//
//   helib N DEPTH BITS P      ring dimension, multiplications in sequence, bits of each of the DEPTH + 1 primes, plaintext modulus
//
// The protocol and the names of the operations are those of README.md. One thread.

#include <helib/helib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
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
    const long n = std::stol(argv[1]), depth = std::stol(argv[2]), bits = std::stol(argv[3]), p = std::stol(argv[4]);
    // The log of warnings is a file otherwise.
    helog.setLogToStderr();
    // HElib chooses the number and the bits of the primes. It counts a prime below 2^BITS as BITS - 0.193 bits.
    const long modulus = std::floor((bits - 0.2) * (depth + 1)), digits = 3;
    // By default the special primes are smaller than a digit of the key switch, because HElib expects products. Rotations would lose 24 bits.
    // A context for CKKS has the same digits, and no tables of slots.
    long special = 0;
    const Context chain = ContextBuilder<CKKS>().m(2 * n).bits(modulus).c(digits).build();
    for (const IndexSet& digit : chain.getDigits()) special = std::max(special, long(chain.logOfProduct(digit) / std::log(2.0)));
    const Context context = ContextBuilder<BGV>().m(2 * n).p(p).r(1).bits(modulus).c(digits).bitsInSpecialPrimes(special).build();
    SecKey secret(context);
    secret.GenSecKey();
    // A rotation by one goes along the longest dimension of the slots. The other has two.
    const PAlgebra& algebra = context.getZMStar();
    long longest = 0;
    for (long i = 1; i < algebra.numOfGens(); i++) {
        if (algebra.OrderOf(i) > algebra.OrderOf(longest)) longest = i;
    }
    const long step = algebra.genToPow(longest, 1);
    secret.GenKeySWmatrix(1, step);
    secret.setKeySwitchMap();
    // The secret key would encrypt by itself, without the public key.
    const PubKey public_key(secret);

    std::vector<long> message(n);
    for (long i = 0; i < n; i++) message[i] = i * i % 211;
    const auto square = [&](std::vector<long> slots) {
        for (long& slot : slots) slot = slot * slot % p;
        return slots;
    };
    EncodedPtxt plaintext;
    PtxtArray(context, message).encode(plaintext);
    NTL::ZZX decrypted;
    Ctxt x(public_key), y(public_key), out(public_key);
    public_key.Encrypt(x, plaintext);
    public_key.Encrypt(y, plaintext);
    // HElib chooses the moduli before each product. The factors have them already, as in a sequence of products.
    Ctxt left(x), right(y);
    left.bringToSet(left.naturalPrimeSet());
    right.bringToSet(right.naturalPrimeSet());
    const auto product = [&] {
        out = left;
        out.multiplyBy(right);
    };
    // Squares down to the last level. For some parameters HElib has fewer levels than primes.
    Ctxt last(x);
    std::vector<long> want = message;
    for (long level = 0; level < depth; level++) {
        Ctxt next(last);
        next.square();
        if (!next.isCorrect()) break;
        last = next;
        want = square(want);
    }
    last.cleanUp();
    PtxtArray turned(context, message);
    rotate1D(turned, longest, 1);
    std::vector<long> rotated;
    turned.store(rotated);
    const auto decrypts = [&](const Ctxt& ciphertext, const std::vector<long>& expected) {
        PtxtArray slots(context);
        slots.decrypt(ciphertext, secret);
        std::vector<long> got;
        slots.store(got);
        return got == expected;
    };
    // The special primes of a key switch stay in HElib's results until the next operation needs them gone. All other libraries divide by them.
    const std::map<std::string, std::function<void()>> work = {
        {"encrypt", [&] { public_key.Encrypt(out, plaintext); }},
        {"decrypt", [&] { secret.Decrypt(decrypted, x); }},
        {"decrypt-last", [&] { secret.Decrypt(decrypted, last); }},
        {"add",
         [&] {
             out = x;
             out += y;
         }},
        {"multiply",
         [&] {
             product();
             out.cleanUp();
         }},
        // One division, by the special primes and to the moduli of the next product.
        {"composed",
         [&] {
             product();
             out.bringToSet(out.naturalPrimeSet());
         }},
        {"rotate",
         [&] {
             out = x;
             out.smartAutomorph(step);
             out.cleanUp();
         }},
    };
    std::cout << "ready " << PEER_VERSION << ' ' << std::lround(context.logOfProduct(context.getCtxtPrimes()) / std::log(2.0)) << ' '
              << PEER_BUILD << std::endl;
    for (std::string what; std::cin >> what;) {
        if (what == "check") {
            work.at("composed")();
            bool right = decrypts(out, square(message)) && decrypts(last, want);
            work.at("rotate")();
            right = right && decrypts(out, rotated);
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

// The peer: SEAL's BGV, driven by lines on standard input. Ours; linked against a library that the user has.
//
//   seal N DEPTH BITS P      ring dimension, multiplications in sequence, bits of each of the DEPTH + 1 primes, plaintext modulus
//
// The protocol and the names of the operations are those of README.md. One thread, one special prime.

#include <seal/seal.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    using namespace seal;
    if (argc != 5) {
        std::cerr << "usage: seal N DEPTH BITS P\n";
        return 2;
    }
    const std::size_t n = std::strtoul(argv[1], nullptr, 10), depth = std::strtoul(argv[2], nullptr, 10);
    const int bits = std::atoi(argv[3]);
    const std::uint64_t p = std::strtoul(argv[4], nullptr, 10);

    EncryptionParameters parameters(scheme_type::bgv);
    parameters.set_poly_modulus_degree(n);
    // A prime for each tower, and the special one.
    parameters.set_coeff_modulus(CoeffModulus::Create(n, std::vector<int>(depth + 2, bits)));
    parameters.set_plain_modulus(p);
    const SEALContext context(parameters, true, sec_level_type::none);
    KeyGenerator keygen(context);
    PublicKey public_key;
    RelinKeys relinearization;
    GaloisKeys rotations;
    keygen.create_public_key(public_key);
    keygen.create_relin_keys(relinearization);
    keygen.create_galois_keys(std::vector<int>{1}, rotations);
    Encryptor encryptor(context, public_key);
    Evaluator evaluator(context);
    Decryptor decryptor(context, keygen.secret_key());
    BatchEncoder encoder(context);

    std::vector<std::uint64_t> slots(n);
    for (std::size_t i = 0; i < n; i++) slots[i] = i * i % 211;
    Plaintext plaintext, decrypted;
    encoder.encode(slots, plaintext);
    Ciphertext x, y, out;
    encryptor.encrypt(plaintext, x);
    encryptor.encrypt(plaintext, y);
    const auto multiply = [&] {
        evaluator.multiply(x, y, out);
        evaluator.relinearize_inplace(out, relinearization);
    };
    const auto composed = [&] {
        multiply();
        evaluator.mod_switch_to_next_inplace(out);
    };
    const std::map<std::string, std::function<void()>> work = {
        {"encrypt", [&] { encryptor.encrypt(plaintext, out); }},
        {"decrypt", [&] { decryptor.decrypt(x, decrypted); }},
        {"add", [&] { evaluator.add(x, y, out); }},
        {"multiply", multiply},
        {"composed", composed},
        {"rotate", [&] { evaluator.rotate_rows(x, 1, rotations, out); }},
    };
    std::cout << "ready " << SEAL_VERSION << ' ' << context.first_context_data()->total_coeff_modulus_bit_count() << ' ' << PEER_BUILD
              << std::endl;
    for (std::string what; std::cin >> what;) {
        if (what == "check") {
            composed();
            decryptor.decrypt(out, decrypted);
            std::vector<std::uint64_t> got;
            encoder.decode(decrypted, got);
            bool right = got.size() == n;
            for (std::size_t i = 0; right && i < n; i++) right = got[i] == slots[i] * slots[i] % p;
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

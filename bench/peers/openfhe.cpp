// The peer: OpenFHE's BGV, driven by lines on standard input. Ours; linked against a library that the user has.
//
//   openfhe N DEPTH BITS P      ring dimension, multiplications in sequence, bits of each of the DEPTH + 1 primes, plaintext modulus
//
// The protocol and the names of the operations are those of README.md. With P = 2 the plaintext is a polynomial, and there are no rotations.

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "openfhe.h"

using namespace lbcrypto;

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: openfhe N DEPTH BITS P\n";
        return 2;
    }
    const uint32_t n = std::stoul(argv[1]), depth = std::stoul(argv[2]), bits = std::stoul(argv[3]);
    const int64_t p = std::stol(argv[4]);
    const bool packed = p != 2;
    CCParams<CryptoContextBGVRNS> parameters;
    parameters.SetPlaintextModulus(p);
    parameters.SetMultiplicativeDepth(depth);
    parameters.SetRingDim(n);
    parameters.SetSecurityLevel(HEStd_NotSet);
    parameters.SetFirstModSize(bits);
    parameters.SetScalingModSize(bits);
    parameters.SetScalingTechnique(FIXEDMANUAL);
    parameters.SetKeySwitchTechnique(HYBRID);
    const auto context = GenCryptoContext(parameters);
    context->Enable(PKE);
    context->Enable(KEYSWITCH);
    context->Enable(LEVELEDSHE);
    const auto keys = context->KeyGen();
    context->EvalMultKeyGen(keys.secretKey);
    if (packed) context->EvalRotateKeyGen(keys.secretKey, {1});

    std::vector<int64_t> message(n);
    for (int64_t i = 0; i < n; ++i) message[i] = packed ? i * i % 211 : i * i / 5 % 2;
    const auto plain = packed ? context->MakePackedPlaintext(message) : context->MakeCoefPackedPlaintext(message);
    // The square of a plaintext. A square modulo 2 doubles exponents.
    const auto square = [&](const std::vector<int64_t>& x) {
        std::vector<int64_t> result(n);
        for (uint32_t i = 0; i < n; ++i) packed ? result[i] = x[i] * x[i] % p : result[2 * i % n] ^= x[i];
        return result;
    };
    auto x = context->Encrypt(keys.publicKey, plain), y = context->Encrypt(keys.publicKey, plain);
    const auto composed = [&](const Ciphertext<DCRTPoly>& a, const Ciphertext<DCRTPoly>& b) {
        auto product = context->EvalMult(a, b);
        context->ModReduceInPlace(product);
        return product;
    };
    // Squares all the way down to the last level.
    auto last = x;
    std::vector<int64_t> want = message;
    for (uint32_t level = 0; level < depth; ++level) {
        last = composed(last, last);
        want = square(want);
    }
    std::cout << "ready " << PEER_VERSION << ' ' << context->GetCryptoParameters()->GetElementParams()->GetModulus().GetMSB() << ' '
              << PEER_BUILD << std::endl;

    Ciphertext<DCRTPoly> out;
    Plaintext decrypted;
    const auto decrypts = [&](const Ciphertext<DCRTPoly>& ciphertext, const std::vector<int64_t>& expected) {
        context->Decrypt(keys.secretKey, ciphertext, &decrypted);
        const auto& got = packed ? decrypted->GetPackedValue() : decrypted->GetCoefPackedValue();
        bool right = true;
        for (uint32_t i = 0; i < n; ++i) right &= ((i < got.size() ? got[i] : 0) - expected[i]) % p == 0;
        return right;
    };
    const std::map<std::string, std::function<void()>> work = {
        {"encrypt", [&] { out = context->Encrypt(keys.publicKey, plain); }},
        {"decrypt", [&] { context->Decrypt(keys.secretKey, x, &decrypted); }},
        {"decrypt-last", [&] { context->Decrypt(keys.secretKey, last, &decrypted); }},
        {"add", [&] { out = context->EvalAdd(x, y); }},
        {"multiply", [&] { out = context->EvalMult(x, y); }},
        {"composed", [&] { out = composed(x, y); }},
        {"rotate", [&] { out = context->EvalRotate(x, 1); }},
    };
    for (std::string what; std::cin >> what;) {
        if (what == "check") {
            const bool right = decrypts(composed(x, y), square(message)) && decrypts(last, want);
            std::cout << (right ? "right" : "wrong") << std::endl;
            continue;
        }
        long count;
        std::cin >> count;
        const auto start = std::chrono::steady_clock::now();
        for (long i = 0; i < count; ++i) work.at(what)();
        const auto time = std::chrono::steady_clock::now() - start;
        std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(time).count() << std::endl;
    }
}

// The peer: OpenFHE's BGV, driven by lines on standard input. Ours; linked against a library that the user has.
//
//   openfhe-bgv N DEPTH BITS      ring dimension, multiplications in sequence, bits of each of the DEPTH + 1 primes; p = 2
//
// The protocol is that of bench/common/src/process.rs; the operations are `encrypt`, `add`, `multiply` and `decrypt`.

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "openfhe.h"

using namespace lbcrypto;

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: openfhe-bgv N DEPTH BITS\n";
        return 2;
    }
    const uint32_t n = std::stoul(argv[1]), depth = std::stoul(argv[2]), bits = std::stoul(argv[3]);
    CCParams<CryptoContextBGVRNS> parameters;
    parameters.SetPlaintextModulus(2);
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

    std::vector<int64_t> message(n);
    for (uint32_t i = 0; i < n; ++i) message[i] = (i * i / 5) % 2;
    const auto plain = context->MakeCoefPackedPlaintext(message);
    auto x = context->Encrypt(keys.publicKey, plain), y = context->Encrypt(keys.publicKey, plain);
    const auto multiply = [&](const Ciphertext<DCRTPoly>& a, const Ciphertext<DCRTPoly>& b) {
        auto product = context->EvalMult(a, b);
        context->ModReduceInPlace(product);
        return product;
    };
    // The last level: squares all the way down. A square modulo 2 doubles exponents.
    auto last = x;
    std::vector<int64_t> want = message;
    for (uint32_t level = 0; level < depth; ++level) {
        last = multiply(last, last);
        std::vector<int64_t> square(n);
        for (uint32_t i = 0; i < n; ++i) square[2 * i % n] ^= want[i];
        want = square;
    }
    std::cout << "ready " << PEER_VERSION << ' '
              << context->GetCryptoParameters()->GetElementParams()->GetModulus().GetMSB() << std::endl;

    Ciphertext<DCRTPoly> out;
    Plaintext decrypted;
    const std::map<std::string, std::function<void()>> work = {
        {"encrypt", [&] { out = context->Encrypt(keys.publicKey, plain); }},
        {"add", [&] { out = context->EvalAdd(x, y); }},
        {"multiply", [&] { out = multiply(x, y); }},
        {"decrypt", [&] { context->Decrypt(keys.secretKey, last, &decrypted); }},
    };
    for (std::string what; std::cin >> what;) {
        if (what == "check") {
            work.at("decrypt")();
            const auto& got = decrypted->GetCoefPackedValue();
            bool right = true;
            for (uint32_t i = 0; i < n; ++i) right &= ((i < got.size() ? got[i] : 0) & 1) == want[i];
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

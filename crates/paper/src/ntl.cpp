// The product of a matrix with a vector by NTL's ZZ_p, as wang2014 table 6.1 measures it. Compiled when the benchmark runs.
//
// ntl check            reads n, the modulus, n*n entries row by row and n factors; writes the n numbers of the transposed product
// ntl time MODULUS N   writes NTL's version, and seconds of CPU time of one product, the least of five
#include <NTL/mat_ZZ_p.h>
#include <NTL/version.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <sstream>

int main(int argc, char** argv) {
    using namespace NTL;
    if (argc == 2 && !std::strcmp(argv[1], "check")) {
        long n;
        ZZ modulus, entry;
        std::cin >> n >> modulus;
        ZZ_p::init(modulus);
        mat_ZZ_p a;
        vec_ZZ_p x, y;
        a.SetDims(n, n);
        x.SetLength(n);
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++) {
                std::cin >> entry;
                conv(a[i][j], entry);
            }
        for (long i = 0; i < n; i++) {
            std::cin >> entry;
            conv(x[i], entry);
        }
        mul(y, x, a);
        for (long j = 0; j < n; j++) std::cout << y[j] << "\n";
        return 0;
    }
    if (argc != 4) return 1;
    ZZ modulus;
    std::istringstream(argv[2]) >> modulus;
    ZZ_p::init(modulus);
    const long n = std::atol(argv[3]);
    mat_ZZ_p a;
    vec_ZZ_p x, y;
    random(a, n, n);
    random(x, n);
    double best = 1e300;
    for (int run = 0; run < 5; run++) {
        const std::clock_t start = std::clock();
        mul(y, x, a);
        best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::cout << NTL_VERSION << "\n" << best << "\n";
}

// The peer: Lattigo's BGV, driven by lines on standard input. Ours; it uses the Go module of the user.
//
//	lattigo N DEPTH BITS P      ring dimension, multiplications in sequence, bits of each of the DEPTH + 1 primes, plaintext modulus
//
// The protocol and the names of the operations are those of ../README.md. One thread.
package main

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// special is the number of special primes, which is also the number of primes of a group of the key switch.
const special = 5

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "lattigo:", err)
		os.Exit(1)
	}
}

// build returns the version of Lattigo, and how this program was built.
func build() (version, flags string) {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/tuneinsight/lattigo/v6" {
			version = module.Version
		}
	}
	for _, setting := range info.Settings {
		if setting.Key == "GOAMD64" {
			flags = ", GOAMD64=" + setting.Value
		}
	}
	return version, runtime.Version() + flags
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: lattigo N DEPTH BITS P")
		os.Exit(2)
	}
	var numbers [4]int
	for i := range numbers {
		numbers[i] = must(strconv.Atoi(os.Args[i+1]))
	}
	n, depth, width, p := numbers[0], numbers[1], numbers[2], uint64(numbers[3])
	params := must(bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN:             bits.Len(uint(n)) - 1,
		LogQ:             slices.Repeat([]int{width}, depth+1),
		LogP:             slices.Repeat([]int{width}, special),
		PlaintextModulus: p,
	}))
	keygen := bgv.NewKeyGenerator(params)
	secret, public := keygen.GenKeyPairNew()
	relinearization := keygen.GenRelinearizationKeyNew(secret)
	rotation := keygen.GenGaloisKeyNew(params.GaloisElementForColRotation(1), secret)
	evaluator := bgv.NewEvaluator(params, rlwe.NewMemEvaluationKeySet(relinearization, rotation))
	encryptor, decryptor, encoder := bgv.NewEncryptor(params, public), bgv.NewDecryptor(params, secret), bgv.NewEncoder(params)

	slots := make([]uint64, n)
	for i := range slots {
		slots[i] = uint64(i*i) % 211
	}
	plaintext := bgv.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(slots, plaintext))
	x, y := must(encryptor.EncryptNew(plaintext)), must(encryptor.EncryptNew(plaintext))
	decrypted := bgv.NewPlaintext(params, params.MaxLevel())
	values := make([]uint64, n)
	ciphertext := func() *rlwe.Ciphertext { return bgv.NewCiphertext(params, 1, params.MaxLevel()) }
	out, product, reduced := ciphertext(), ciphertext(), bgv.NewCiphertext(params, 1, params.MaxLevel()-1)
	multiply := func() { check(evaluator.MulRelin(x, y, product)) }
	composed := func() {
		multiply()
		check(evaluator.Rescale(product, reduced))
	}
	// The fastest way of each operation: into ciphertexts that exist. Decryption includes decoding, as it does in the other peers.
	work := map[string]func(){
		"encrypt": func() { check(encryptor.Encrypt(plaintext, out)) },
		"decrypt": func() {
			decryptor.Decrypt(x, decrypted)
			check(encoder.Decode(decrypted, values))
		},
		"add":      func() { check(evaluator.Add(x, y, out)) },
		"multiply": multiply,
		"composed": composed,
		"rotate":   func() { check(evaluator.RotateColumns(x, 1, out)) },
	}
	version, flags := build()
	fmt.Printf("ready %s %d %s\n", version, params.RingQ().ModulusAtLevel[params.MaxLevel()].BitLen(), flags)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "check" {
			composed()
			check(encoder.Decode(decryptor.DecryptNew(reduced), values))
			right := true
			for i, value := range values {
				right = right && value == slots[i]*slots[i]%p
			}
			fmt.Println(map[bool]string{true: "right", false: "wrong"}[right])
			continue
		}
		var what string
		var count int
		must(fmt.Sscan(lines.Text(), &what, &count))
		start := time.Now()
		for range count {
			work[what]()
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
}

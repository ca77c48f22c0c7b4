// The peer: gates of tfhe-go, driven by lines on standard input. Ours; it uses the Go module of the user.
//
//	tfhe-go THREADS      threads of a batch of gates
//
// The protocol is that of ../README.md. The operations are `nand`, `xor`, and `nands-N`, which computes N independent gates.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sp301415/tfhe-go/tfhe"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "tfhe-go:", err)
		os.Exit(1)
	}
	return value
}

// build returns the version of tfhe-go, and how this program was built.
func build() (version, flags string) {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/sp301415/tfhe-go" {
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
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tfhe-go THREADS")
		os.Exit(2)
	}
	threads := must(strconv.Atoi(os.Args[1]))
	params := tfhe.ParamsBinary.Compile()
	encryptor := tfhe.NewBinaryEncryptor(params)
	evaluators := []*tfhe.BinaryEvaluator[uint32]{tfhe.NewBinaryEvaluator(params, encryptor.GenEvaluationKeyParallel())}
	for len(evaluators) < threads {
		evaluators = append(evaluators, evaluators[0].ShallowCopy())
	}
	bit := func(i, place int) bool { return i>>place&1 == 1 }
	const most = 64
	var x, y, out [most]tfhe.LWECiphertext[uint32]
	for i := range most {
		x[i], y[i], out[i] = encryptor.EncryptLWEBool(bit(i, 0)), encryptor.EncryptLWEBool(bit(i, 1)), tfhe.NewLWECiphertext(params)
	}
	nands := func(count int) {
		if len(evaluators) == 1 || count == 1 {
			for i := range count {
				evaluators[0].NANDAssign(x[i], y[i], out[i])
			}
			return
		}
		var group sync.WaitGroup
		for first, evaluator := range evaluators {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := first; i < count; i += len(evaluators) {
					evaluator.NANDAssign(x[i], y[i], out[i])
				}
			}()
		}
		group.Wait()
	}
	// The last gates, for the check.
	count, nand := 0, true
	version, flags := build()
	fmt.Printf("ready %s 32 pfail=2^%.0f by its estimate, %s\n", version, math.Log2(params.EstimateFailureProbability()), flags)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "check" {
			right := true
			for i := range count {
				a, b := bit(i, 0), bit(i, 1)
				right = right && encryptor.DecryptLWEBool(out[i]) == (nand && !(a && b) || !nand && a != b)
			}
			fmt.Println(map[bool]string{true: "right", false: "wrong"}[right])
			continue
		}
		var what string
		var repeat int
		must(fmt.Sscan(lines.Text(), &what, &repeat))
		nand, count = what != "xor", 1
		if number, found := strings.CutPrefix(what, "nands-"); found {
			count = must(strconv.Atoi(number))
		}
		start := time.Now()
		for range repeat {
			if nand {
				nands(count)
			} else {
				evaluators[0].XORAssign(x[0], y[0], out[0])
			}
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
}

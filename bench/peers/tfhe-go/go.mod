module solinas/bench/tfhe-go

go 1.24.0

require github.com/sp301415/tfhe-go v0.6.1

require (
	golang.org/x/crypto v0.33.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
)

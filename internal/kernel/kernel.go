package kernel

//go:generate sh -c "cd gen && go run . -op dense -pkg kernel -out ../dense_amd64.s -stubs ../dense_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op exp -pkg kernel -out ../exp_amd64.s -stubs ../exp_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op logistic -pkg kernel -out ../logistic_amd64.s -stubs ../logistic_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op many -pkg kernel -out ../many_amd64.s -stubs ../many_asm_amd64.go"
//go:generate sh -c "cd gen && go run . -op moments -pkg kernel -out ../moments_amd64.s -stubs ../moments_asm_amd64.go"

// level is an instruction set.
type level int

const (
	portable level = iota
	avx2
	avx512
)

// active is the level that operations run at. Only tests change it.
var active = detect()

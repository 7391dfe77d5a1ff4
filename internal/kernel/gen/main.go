// Command gen writes the assembly of package kernel. It is a module of its own
// so that users of the library don't depend on the generator.
//
//	go run . -op dense -pkg kernel -out ../dense_amd64.s -stubs ../dense_asm_amd64.go
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

// ops are the operations by the name of their file.
var ops = map[string]func(){
	"dense":    dense,
	"exp":      exp,
	"logistic": logistic,
	"many":     many,
	"moments":  moments,
	"sum":      sum,
}

func main() {
	name := flag.String("op", "", "operation to generate")
	flag.Parse()
	op, ok := ops[*name]
	if !ok {
		log.Fatalf("no operation %q", *name)
	}
	ConstraintExpr("!purego")
	op()
	Generate()
}

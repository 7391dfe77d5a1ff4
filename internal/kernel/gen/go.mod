module github.com/dpglm/dpglm/internal/kernel/gen

go 1.24.0

require github.com/mmcloughlin/avo v0.5.0

require (
	golang.org/x/mod v0.25.0 // indirect
	golang.org/x/sync v0.15.0 // indirect
	golang.org/x/tools v0.34.0 // indirect
)

module github.com/dpglm/dpglm

go 1.24.0

require (
	golang.org/x/exp v0.0.0-20250606033433-dcc06ee1d476
	golang.org/x/sys v0.33.0
	gonum.org/v1/gonum v0.17.0
)

require golang.org/x/tools v0.34.0 // indirect

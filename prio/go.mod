module github.com/dpglm/dpglm/prio

go 1.24.0

replace github.com/dpglm/dpglm => ../

require (
	github.com/cloudflare/circl v1.6.3
	github.com/dpglm/dpglm v0.1.0
	gonum.org/v1/gonum v0.17.0
)

require (
	golang.org/x/crypto v0.30.0 // indirect
	golang.org/x/exp v0.0.0-20250606033433-dcc06ee1d476 // indirect
	golang.org/x/sys v0.33.0 // indirect
)

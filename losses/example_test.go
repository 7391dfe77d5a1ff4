package losses_test

import (
	"fmt"
	"log"
	"math"

	"github.com/dpglm/dpglm/losses"
)

// A user's own loss: log cosh of the residual, smooth with H = 1 and Lipschitz
// with 1.
func ExampleCustom() {
	loss := losses.Custom{
		Label:      "log-cosh",
		Domain:     losses.Real,
		Phi:        func(z, y float64) float64 { r := math.Abs(z - y); return r + math.Log1p(math.Expm1(-2*r)/2) },
		DPhi:       func(z, y float64) float64 { return math.Tanh(z - y) },
		AtZero:     func(labelBound float64) float64 { return labelBound },
		Smoothness: 1,
		Lipschitz:  1,
	}
	fmt.Println(losses.CheckConstants(loss, 5, 3))

	loss.Smoothness = 0.5
	fmt.Println(losses.CheckConstants(loss, 5, 3) != nil)
	// Output:
	// <nil>
	// true
}

func ExampleExtended() {
	loss := losses.Extended{Inner: losses.Poisson{}, Limit: 3}
	fmt.Println(loss.Name())
	fmt.Println(losses.Poisson{}.Constants(10, 5).Slope > 22000, loss.Constants(10, 5).Slope < 21)
	// Output:
	// poisson extended at 3
	// true true
}

// Thresholds for levels of which the first is expected to have about two thirds of the rows: a
// score of 0 gives each level its share, and a higher one moves towards the last.
func ExampleOrdinalFromFractions() {
	loss, err := losses.OrdinalFromFractions(65, 25, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, score := range []float64{0, 2} {
		fmt.Printf("%.2f\n", loss.Probabilities(score))
	}
	// Output:
	// [0.65 0.25 0.10]
	// [0.20 0.35 0.45]
}

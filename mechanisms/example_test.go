package mechanisms_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// planned is what a fit on a hundred thousand rows would spend.
func planned(b dpglm.Budget) *mechanisms.Ledger {
	shape := dpglm.Shape{Rows: 100_000, Dim: 8, FeatureBound: 1}
	plan, err := dpglm.NoisyGDConfig{Steps: 100}.Plan(shape, dpglm.Problem{Loss: losses.Logistic{}}, b)
	if err != nil {
		log.Fatal(err)
	}
	return plan.Ledger
}

// Several fits on one table have one total. Spend comes before the fit, and what remains
// is the budget of the last one.
func ExampleAccountant() {
	total, err := mechanisms.NewAccountant(mechanisms.OneRow(), 2, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if err := total.Spend(planned(dpglm.ApproxDP(1, 1e-6))); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(total)
	fmt.Println(total.Spend(planned(dpglm.ApproxDP(1.5, 1e-6))))
	left, err := total.Remaining()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(total.Spend(planned(dpglm.GDP(left.Mu))))
	fmt.Println(total)
	// Output:
	// 0.2982-GDP or 0.2382-DP left of (ε = 2, δ = 1e-06)-DP, unit: one row (replace-one), after 2 ledgers
	// dpglm: privacy budget: ledger = Noisy GD around the constant model must fit what is left, 0.2982-GDP or 0.2382-DP, of the total (ε = 2, δ = 1e-06)-DP, unit: one row (replace-one): it asks for 0.344346-GDP
	// <nil>
	// nothing left of (ε = 2, δ = 1e-06)-DP, unit: one row (replace-one), after 3 ledgers
}

// Teams get accountants of their own, the last of them twice the weight of another.
func ExampleAccountant_Split() {
	total, err := mechanisms.NewAccountant(mechanisms.OneRow(), 2, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	shares, err := total.Split(1, 1, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, share := range shares {
		left, err := share.Remaining()
		if err != nil {
			log.Fatal(err)
		}
		_, total, _ := strings.Cut(share.String(), "of ")
		fmt.Println(total)
		if err := share.Spend(planned(dpglm.GDP(left.Mu))); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(total)
	// Output:
	// 0.224168-GDP, unit: one row (replace-one)
	// 0.224168-GDP, unit: one row (replace-one)
	// 0.317021-GDP, unit: one row (replace-one)
	// nothing left of (ε = 2, δ = 1e-06)-DP, unit: one row (replace-one), after 3 ledgers
}

// The ledger of a fit is a curve: each δ has its ε.
func ExampleLedger_Epsilon() {
	ledger := planned(dpglm.ApproxDP(1, 1e-6))
	for _, delta := range []float64{1e-4, 1e-6, 1e-9} {
		epsilon, err := ledger.Epsilon(delta)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("δ = %g: ε = %.3f\n", delta, epsilon)
	}
	// Output:
	// δ = 0.0001: ε = 0.727
	// δ = 1e-06: ε = 1.000
	// δ = 1e-09: ε = 1.318
}

// A mean of ages, clamped to [18, 100], leaves with noise: a replaced row moves the sum by 82.
func ExampleGaussian_Release() {
	ages := []float64{34, 51, 28, 67, 45, 19, 73, 52, 40, 61}
	var sum float64
	for _, age := range ages {
		sum += min(max(age, 18), 100)
	}
	noise, err := mechanisms.CalibrateGaussian(4, 1e-6, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	released := []float64{sum}
	// A release that leaves the house has a NewSecureSource.
	if err := noise.Release(released, released, 82, mechanisms.NewSeededSource(1)); err != nil {
		log.Fatal(err)
	}
	sigma, err := noise.Sigma(82, 1)
	if err != nil {
		log.Fatal(err)
	}
	ledger, err := noise.Ledger("sum of ages", 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise of ten rows' mean: ±%.1f years\n", sigma/10)
	fmt.Println(ledger)
	// Output:
	// noise of ten rows' mean: ±9.8 years
	// sum of ages: 1 × Gaussian in 1 dimensions, σ = 1.19352 × sensitivity, together 0.837859-GDP
}

// One of several candidates is chosen by how many rows speak against each.
func ExamplePermuteAndFlip() {
	against := []float64{410, 20, 380} // a replaced row changes each by 1 at most
	chosen, err := mechanisms.PermuteAndFlip{Epsilon: 0.5}.Select(against, 1, mechanisms.NewSeededSource(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("chosen:", chosen) // another one with a probability below e^-90
	// Output: chosen: 1
}

// What is computed of two disjoint parts of the rows costs no more than the larger of both;
// of the same rows it adds up.
func ExampleParallel() {
	fit, evaluation := planned(dpglm.ApproxDP(1, 1e-6)), planned(dpglm.ApproxDP(1, 1e-6))
	for _, compose := range []func(string, ...*mechanisms.Ledger) (*mechanisms.Ledger, error){mechanisms.Parallel, mechanisms.Sequential} {
		both, err := compose("both", fit, evaluation)
		if err != nil {
			log.Fatal(err)
		}
		epsilon, err := both.Epsilon(1e-6)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("ε = %.2f\n", epsilon)
	}
	// Output:
	// ε = 1.00
	// ε = 1.45
}

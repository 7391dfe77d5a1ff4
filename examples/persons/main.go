// Persons asks three questions of the same rows, some persons having one and some fifty: what single rows say where
// any fifty are protected, what persons say who count alike, and what rows say that count alike, both where all
// rows of a person are protected.
//
//	go run ./examples/persons
//
// The data are made up: who has many rows is unlike those with few, so that persons and rows that count alike have
// different answers. Errors are those of all coefficients, root mean square, in standard errors of the fit of all rows without
// privacy, by persons. With -intervals it says how often 95 % intervals hold the coefficients of a population of 400,000
// persons, and how wide they are, in those of that fit.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

const (
	mostRows = 50
	delta    = 1e-6
	furthest = 8 // of labels, on either side of 0
)

// way is how rows are protected, and which count alike.
type way struct {
	name    string
	persons bool // whether a person's rows are protected together, and not any fifty
	alike   bool // whether persons count alike
}

var ways = []way{{"any 50 rows", false, false}, {"persons alike", true, true}, {"rows alike", true, false}}

func main() {
	log.SetFlags(0)
	repeats := flag.Int("repeat", 20, "panels of each kind")
	intervals := flag.Bool("intervals", false, "of coefficients, and not their errors")
	persons := flag.Int("persons", 0, "in a panel; 0 for 2,000 and 20,000")
	flag.Parse()
	sizes := []int{2_000, 20_000}
	if *persons > 0 {
		sizes = []int{*persons}
	}
	if err := study(sizes, *repeats, *intervals); err != nil {
		log.Fatal(err)
	}
}

func study(sizes []int, repeats int, intervals bool) error {
	fmt.Print("| loss | persons | ε |")
	for _, w := range ways {
		fmt.Printf(" %s |", w.name)
	}
	fmt.Println("\n|---|---|---|---|---|---|")
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
		truth := pooled(drawn(400_000, loss, 1), loss).weights
		for _, persons := range sizes {
			for _, epsilon := range []float64{1, 4} {
				fmt.Printf("| %s | %d | %g |", loss.Name(), persons, epsilon)
				cell := errorsOf
				if intervals {
					cell = intervalsOf(truth)
				}
				for _, w := range ways {
					text, err := cell(w, loss, persons, repeats, dpglm.ApproxDP(epsilon, delta))
					if err != nil {
						return err
					}
					fmt.Printf(" %s |", text)
				}
				fmt.Println()
			}
		}
	}
	return nil
}

// dataset is a panel, protected and counted in a way, and the budget for that.
func (w way) dataset(p panel, b dpglm.Budget) (*dpglm.Dataset, dpglm.Budget, error) {
	facts := dpglm.Bounds{Feature: 5, Label: furthest, Intercept: true}
	if !w.persons {
		d, err := dpglm.NewDataset(p.x, p.y, facts)
		return d, b.ForGroups(mostRows), err
	}
	d, err := dpglm.NewDataset(p.x, p.y, facts, dpglm.Persons{Of: p.persons, Count: p.count, MaxRows: mostRows, Alike: w.alike})
	return d, b, err
}

// errorsOf is the root mean square of coefficients' errors.
func errorsOf(w way, loss losses.Loss, persons, repeats int, budget dpglm.Budget) (string, error) {
	square, terms := 0.0, 0
	err := w.each(loss, persons, repeats, budget, func(d *dpglm.Dataset, b dpglm.Budget, best fit) error {
		m, err := dpglm.Auto(context.Background(), d, dpglm.Problem{Loss: loss}, b, nil)
		if err != nil {
			return err
		}
		for j, v := range m.Weights()[0] {
			square += math.Pow((v-best.weights[j])/best.errors[j], 2)
			terms++
		}
		return nil
	})
	return fmt.Sprintf("%.2f", math.Sqrt(square/float64(terms))), err
}

// each calls f with so many panels, and their fits without privacy.
func (w way) each(loss losses.Loss, persons, repeats int, budget dpglm.Budget, f func(d *dpglm.Dataset, b dpglm.Budget, best fit) error) error {
	for k := range repeats {
		p := drawn(persons, loss, uint64(k)+2)
		d, b, err := w.dataset(p, budget)
		if err != nil {
			return err
		}
		if err := f(d, b, pooled(p, loss)); err != nil {
			return err
		}
	}
	return nil
}

// intervalsOf is how many intervals hold the truth, how wide these are, and how many there are.
func intervalsOf(truth []float64) func(w way, loss losses.Loss, persons, repeats int, budget dpglm.Budget) (string, error) {
	return func(w way, loss losses.Loss, persons, repeats int, budget dpglm.Budget) (string, error) {
		var held, width, found, all float64
		err := w.each(loss, persons, repeats, budget, func(d *dpglm.Dataset, b dpglm.Budget, best fit) error {
			of, err := dpglm.Infer(context.Background(), d, dpglm.Problem{Loss: loss}, b, dpglm.InferConfig{}, nil)
			if err != nil {
				return err
			}
			for j, c := range of.Coefficients() {
				if all++; c.Undetermined() {
					continue
				}
				found++
				width += c.StandardError / best.errors[j]
				if c.Low <= truth[j] && truth[j] <= c.High {
					held++
				}
			}
			return nil
		})
		if found == 0 {
			return "none", err
		}
		return fmt.Sprintf("%.3f, × %.2f, %.0f %%", held/found, width/found, 100*found/all), err
	}
}

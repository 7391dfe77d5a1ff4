package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/internal/digits"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// leastPart is the part of a total below which there is nothing left to speak of, and halvings are how closely what is left is found: to about
// one part in a million.
const (
	leastPart = 1e-4
	halvings  = 20
)

// account is what a budget's file has left, for plans to be tried on. It spends nothing.
type account struct {
	path  string
	total budgetfile.Total
	text  []byte // of the accountant
}

// openAccount reads a budget's file, and takes its group and its δ for the plan's.
func (b *budget) openAccount(ctx context.Context, path string, given map[string]bool) (*account, error) {
	if err := task.Exists("largest", path); err != nil {
		return nil, err
	}
	file, err := budgetfile.Open(path)
	if err != nil {
		return nil, err
	}
	a := &account{path: path}
	if a.total, err = file.Total(); err != nil {
		return nil, err
	}
	switch {
	case given["group"] && b.group != a.total.Group:
		return nil, task.Usage("-group %d is not that of -largest %s, %d: leave it out", b.group, path, a.total.Group)
	case a.total.Delta == 0:
		return nil, task.Usage("-largest %s has δ = 0, and a fit takes one above 0: plan it by -epsilon", path)
	case given["delta"] && b.delta > a.total.Delta:
		return nil, task.Usage("-delta %g is above that of -largest %s, %s", b.delta, path, digits.RoundedUp(a.total.Delta))
	}
	if b.group = a.total.Group; !given["delta"] {
		b.delta = a.total.Delta
	}
	entries, _, err := atRest(ctx, file)
	if err != nil {
		return nil, err
	}
	left, err := replayed(file, a.total, entries, "")
	if err != nil {
		return nil, fmt.Errorf("-largest %s: %w", path, err)
	}
	a.text, err = json.Marshal(left)
	return a, err
}

// takes reports whether the file would take what a plan releases.
func (a *account) takes(l *dpglm.Ledger) (bool, error) {
	if l.Unit() != a.total.Unit {
		return false, task.Usage("-largest %s protects %v, and a fit by this schema %v: make a budget by csvfit budget -unit and -neighbours", a.path, a.total.Unit, l.Unit())
	}
	left := new(mechanisms.Accountant)
	if err := json.Unmarshal(a.text, left); err != nil {
		return false, err
	}
	_, err := left.Charge(l)
	if errors.Is(err, dpglm.ErrBudget) {
		return false, nil
	}
	return err == nil, err
}

// findLargest sets ε to what a budget's file has left for a fit, and its evaluation on so many rows.
func (b *budget) findLargest(ctx context.Context, path string, given map[string]bool, source *task.Source, shape dpglm.Shape, held int) error {
	a, err := b.openAccount(ctx, path, given)
	if err != nil {
		return err
	}
	of, err := shapeOf(source.Facts(), held)
	if err != nil {
		return err
	}
	return b.largest(ctx, a, func() (*dpglm.Ledger, error) { return b.planLedger(source, shape, of) })
}

// largest sets ε to the largest, of four digits, of which the file takes what the plan releases.
func (b *budget) largest(ctx context.Context, a *account, ledger func() (*dpglm.Ledger, error)) error {
	fits := func(epsilon float64) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		b.epsilon = epsilon
		l, err := ledger()
		if err != nil {
			return false, err
		}
		return a.takes(l)
	}
	low, high := a.total.Epsilon, a.total.Epsilon
	for {
		ok, err := fits(low)
		if err != nil {
			return err
		}
		if ok {
			break
		}
		if high, low = low, low/2; low < leastPart*a.total.Epsilon {
			return fmt.Errorf("-largest %s has nothing left for a fit of %s%%: %w", a.path, digits.RoundedUp(100*leastPart), dpglm.ErrBudget)
		}
	}
	for i := 0; i < halvings && low < high; i++ {
		middle := low + (high-low)/2
		ok, err := fits(middle)
		if err != nil {
			return err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	b.epsilon = floor4(low)
	return nil
}

// floor4 rounds down to four digits: to what they are read as, so that it is never more than x.
func floor4(x float64) float64 {
	v := fourDigits(x)
	if v > x {
		v = fourDigits(x - math.Pow10(int(math.Floor(math.Log10(x)))-3)/2)
	}
	return v
}

// fourDigits rounds to what is nearest.
func fourDigits(x float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 3, 64), 64)
	return v
}

// planLedger is what a fit, and an evaluation of its model, would release.
func (b *budget) planLedger(source *task.Source, shape, held dpglm.Shape) (*dpglm.Ledger, error) {
	p, _, err := b.of(shape, source, io.Discard)
	if err != nil || held.Rows == 0 {
		if err != nil {
			return nil, err
		}
		return p.Ledger, nil
	}
	evaluation, err := b.evaluationLedger(source, held)
	if err != nil {
		return nil, err
	}
	return b.together(parts{"of disjoint rows", shape.Rows + held.Rows}, p.Ledger, evaluation)
}

// Package check holds the rules that public arguments must meet, one function
// a rule, and the error that reports a broken one.
package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// The sentinels that every Error unwraps to. Package dpglm exports them.
var (
	ErrShape   = errors.New("dpglm: shape")
	ErrValue   = errors.New("dpglm: non-finite or out-of-range data")
	ErrLabel   = errors.New("dpglm: label outside the loss's domain")
	ErrBound   = errors.New("dpglm: public bound")
	ErrSchema  = errors.New("dpglm: schema")
	ErrBudget  = errors.New("dpglm: privacy budget")
	ErrConfig  = errors.New("dpglm: parameter")
	ErrModel   = errors.New("dpglm: encoded model or ledger")
	ErrSpent   = errors.New("dpglm: privacy budget spent")
	ErrRowFile = errors.New("dpglm: row file")
	// ErrUnplanned is a release that no schedule plans: a defect of this library.
	ErrUnplanned = errors.New("dpglm: release that is not planned")
)

// Error reports a broken rule: which parameter, the value it had and the rule.
// It never holds a value taken from the data.
type Error struct {
	kind               error // one of the sentinels above
	param, value, rule string
}

// Param is the parameter's name.
func (e *Error) Param() string { return e.param }

// Value is the parameter's value as given; empty where it would be data.
func (e *Error) Value() string { return e.value }

// Rule is what the parameter must be.
func (e *Error) Rule() string { return e.rule }

func (e *Error) Error() string {
	if e.value == "" {
		return fmt.Sprintf("%v: %s %s", e.kind, e.param, e.rule)
	}
	return fmt.Sprintf("%v: %s = %s %s", e.kind, e.param, e.value, e.rule)
}

func (e *Error) Unwrap() error { return e.kind }

// Fail makes an Error; value may be any public value, or nil for none.
func Fail(kind error, param string, value any, rule string) error {
	v := ""
	if value != nil {
		v = fmt.Sprint(value)
	}
	return &Error{kind, param, v, rule}
}

// Given asks for an argument that is neither nil nor a nil pointer.
func Given(param string, v any) error {
	if v == nil {
		return Fail(ErrConfig, param, nil, "must not be nil")
	}
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
		return Fail(ErrConfig, param, fmt.Sprintf("(%T)(nil)", v), "must not be nil")
	}
	return nil
}

// Valid asks for an argument that is given, and lets it check its own parameters if it has a
// method Validate.
func Valid(param string, v any) error {
	if err := Given(param, v); err != nil {
		return err
	}
	if v, ok := v.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// Positive asks for a finite number above zero.
func Positive(kind error, param string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return Fail(kind, param, v, "must be a positive finite number")
	}
	return nil
}

// MaxScale and MinScale limit public bounds, so that products of a few of them
// neither overflow nor vanish.
const (
	MaxScale = 1e60
	MinScale = 1e-60
)

// Everywhere is a score beyond all that are ever computed.
const Everywhere = 1e300

// MaxOffset limits offsets of scores.
const MaxOffset = 100

// Bound asks for a public bound: positive, finite and of a sane magnitude.
func Bound(param string, v float64) error { return Scale(ErrBound, param, v) }

// Scale is Bound for parameters of another kind.
func Scale(kind error, param string, v float64) error {
	if !(v >= MinScale && v <= MaxScale) {
		return Fail(kind, param, v, fmt.Sprintf("must be a positive number in [%g, %g]", MinScale, MaxScale))
	}
	return nil
}

// Epsilon asks for a privacy parameter ε > 0, finite.
func Epsilon(v float64) error { return Positive(ErrBudget, "epsilon", v) }

// Delta asks for δ strictly between 0 and 1.
func Delta(v float64) error {
	if !(v > 0 && v < 1) {
		return Fail(ErrBudget, "delta", v, "must lie strictly between 0 and 1")
	}
	return nil
}

// EpsilonDelta asks for both.
func EpsilonDelta(epsilon, delta float64) error {
	if err := Epsilon(epsilon); err != nil {
		return err
	}
	return Delta(delta)
}

// Releases asks for at least one release, and one coordinate in each.
func Releases(releases, dim int) error {
	if releases < 1 {
		return Fail(ErrConfig, "releases", releases, "must be at least 1")
	}
	if dim < 1 {
		return Fail(ErrShape, "dim", dim, "must be at least 1")
	}
	return nil
}

// Mu asks for a Gaussian-DP parameter μ > 0 of a sane magnitude.
func Mu(v float64) error { return Scale(ErrBudget, "mu", v) }

// Cancelled is nil while ctx lives. Then it is ctx.Err(), and the cause of the
// cancellation too where that is another: errors.Is finds both.
func Cancelled(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// Misstated is a loss of this module's own tests whose constants are false on purpose: they are
// not held against its values. Other modules can't name the method's argument.
type Misstated interface{ Misstated(OnPurpose) }

// OnPurpose is the argument of Misstated.
type OnPurpose struct{}

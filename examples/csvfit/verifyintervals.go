package main

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
)

// within is how far numbers may differ that are computed anew, maybe by another processor.
const within = 1e-6

// intervals checks that standard errors, intervals and what is printed beside them follow from the
// law of the noise that is stored with them. It says nothing about that law. Another version
// of the library may take them to be wider or narrower.
func (v *verdict) intervals(text []byte, library string, found inferred) error {
	if found.none() == nil {
		return nil
	}
	const what = "intervals"
	if library != dpglm.Version {
		v.leave(what, fmt.Sprintf("that they follow from the law of the noise, as dpglm %s has it: this is %s", library, dpglm.Version))
		return nil
	}
	again, err := json.Marshal(found.none())
	if err != nil {
		return err
	}
	var was, now map[string]any
	if err := json.Unmarshal(text, &was); err != nil {
		return err
	}
	if err := json.Unmarshal(again, &now); err != nil {
		return err
	}
	delete(was, "sum")
	delete(now, "sum")
	each := []*dpglm.Inference{found.one}
	if found.classes != nil {
		each = nil
		for _, class := range found.classes.Model().Levels() {
			if one, err := found.classes.Of(class); err == nil { // but for the reference
				each = append(each, one)
			}
		}
	}
	holds := alike(was, now, 0)
	for _, one := range each {
		holds = holds && follow(one)
	}
	came := "what the stored law and the weights give"
	if !holds {
		came = "not " + came
	}
	v.check(what, "standard errors, intervals, covariance", came, holds)
	v.leave(what, "that the law of the noise, and of the rows' scatter, is the one that was found")
	return nil
}

// follow reports whether each coefficient has the standard error and interval that its law gives.
func follow(f *dpglm.Inference) bool {
	for _, c := range f.Coefficients() {
		own, err := f.Combination(c.Name, map[string]float64{c.Name: 1})
		if err != nil {
			return false
		}
		if c.Undetermined() != own.Undetermined() {
			return false
		}
		if c.Undetermined() {
			continue
		}
		for _, pair := range [][2]float64{{c.StandardError, own.StandardError}, {c.Low, own.Low}, {c.High, own.High}, {c.Z, own.Z}, {c.P, own.P}, {c.Freedom, own.Freedom}} {
			if !near(pair[0], pair[1], math.Abs(c.Estimate)) {
				return false
			}
		}
	}
	return true
}

// near reports whether numbers are the same but for rounding, of the largest of them and a scale.
func near(a, b, scale float64) bool {
	return a == b || math.Abs(a-b) <= within*max(math.Abs(a), math.Abs(b), scale)
}

// alike reports whether two JSON values are the same, but for rounding of the numbers: in a list,
// of the largest one.
func alike(a, b any, scale float64) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && near(a, b, scale)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		largest := 0.
		for _, x := range a {
			if x, ok := x.(float64); ok {
				largest = max(largest, math.Abs(x))
			}
		}
		for i := range a {
			if !alike(a[i], b[i], largest) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name := range a {
			if _, there := b[name]; !there || !alike(a[name], b[name], 0) {
				return false
			}
		}
		return true
	}
	return a == b
}

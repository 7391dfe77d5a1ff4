package task

import (
	"maps"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// lossTable and methodTable are the names that flags take, with the parameters
// that the flag's description states.
var (
	lossTable = map[string]losses.Loss{
		"absolute":      losses.Absolute{},
		"gamma":         losses.Gamma{Least: 0.01},
		"hinge":         losses.Hinge{},
		"huber":         losses.Huber{Kappa: 1},
		"logistic":      losses.Logistic{},
		"negbinomial":   losses.NegativeBinomial{Dispersion: 1},
		"ordinal":       losses.Ordinal{}, // of thresholds that the schema makes
		"poisson":       losses.Poisson{},
		"probit":        losses.Probit{},
		"quantile":      losses.Quantile{Tau: 0.9},
		"smoothedhinge": losses.SmoothedHinge{Width: 0.5},
		"squared":       losses.Squared{},
		"squaredhinge":  losses.SquaredHinge{},
	}
	methodTable = map[string]dpglm.Learner{
		"auto":         dpglm.AutoConfig{},
		"infer":        dpglm.InferConfig{},
		"frankwolfe":   dpglm.FrankWolfeConfig{EntryBound: 1}, // of a table's columns
		"noisygd":      dpglm.NoisyGDConfig{},
		"standardised": dpglm.StandardisedGDConfig{},
		"outputpert":   dpglm.OutputPerturbationConfig{},
		"jl":           dpglm.JLConfig{},
		"gridsearch":   dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}},
		"objpert":      dpglm.ObjectivePerturbationConfig{},
		"boost":        dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}},
	}
)

// Losses are the names of the losses, sorted.
func Losses() []string { return slices.Sorted(maps.Keys(lossTable)) }

// Methods are the names of the methods, sorted.
func Methods() []string { return slices.Sorted(maps.Keys(methodTable)) }

// Compared are the methods that are there for their predictions, sorted: all but infer,
// which is there for its intervals.
func Compared() []string {
	return slices.DeleteFunc(Methods(), func(name string) bool { return name == "infer" })
}

// Method returns the learner that a flag names.
func Method(flag, name string) (dpglm.Learner, error) { return lookUp(methodTable, flag, name) }

func lookUp[T any](table map[string]T, flag, name string) (T, error) {
	v, ok := table[name]
	if !ok {
		return v, Usage("-%s %q is not one of %s", flag, name, known(table))
	}
	return v, nil
}

func known[T any](table map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}

package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/mechanisms"
)

// additive is planned noise for vectors of known L2 sensitivity.
type additive interface {
	// perSensitivity is the standard deviation in each coordinate for each unit
	// of sensitivity.
	perSensitivity() float64
	// check refuses a sensitivity that a release would refuse.
	check(sensitivity float64) error
	schedule(label string, releases int) (*release.Schedule, error)
}

type gaussian struct {
	mechanisms.Gaussian
	dim int
}

func (g gaussian) perSensitivity() float64 { return 1 / g.Mu }

func (g gaussian) check(sensitivity float64) error {
	_, err := g.Sigma(sensitivity, g.dim)
	return err
}

func (g gaussian) schedule(label string, releases int) (*release.Schedule, error) {
	return release.Gaussian(label, g.Mu, releases, g.dim)
}

// laplace is discrete Laplace noise for the L1 sensitivity that follows from L2.
type laplace struct {
	mechanisms.Laplace
	dim int
}

func (l laplace) perSensitivity() float64 { return math.Sqrt(2*float64(l.dim)) / l.Epsilon }

func (l laplace) check(sensitivity float64) error {
	_, err := l.Scale(release.L1(sensitivity, l.dim), l.dim)
	return err
}

func (l laplace) schedule(label string, releases int) (*release.Schedule, error) {
	return release.Laplace(label, l.Epsilon, releases, l.dim)
}

package questions

import (
	"math"
	"sync"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// frameNorms are the norms of rows in a frame, and how they are shortened.
type frameNorms struct {
	most    float64   // that rows are shortened to; 0 for none
	length  []float64 // bound on ‖Aᵀ(xᵢ−m)‖ before shortening
	shorten []float64 // factor ≤ 1; nil if all are 1

	lock    sync.Mutex
	kept    []float64 // beside, of the last kind of slope
	keptFor Slope
}

// newFrameNorms sets the factors, too. Of rows in a file only parts have them.
func newFrameNorms(t *rows.Table, length []float64, most float64) *frameNorms {
	n := &frameNorms{most: most, length: length}
	if most > 0 && t.Place == nil {
		n.shorten = make([]float64, len(length))
		for i, v := range length {
			n.shorten[i] = math.Min(1, most/v)
		}
	}
	return n
}

// row bounds the norm of row i's coordinates, shortened.
func (n *frameNorms) row(i int) float64 {
	if n.shorten == nil {
		return n.length[i]
	}
	return math.Min(n.length[i], n.most*(1+4*encoding.Unit))
}

// hold multiplies numbers of the rows from lo on by their factors.
func (n *frameNorms) hold(z []float64, lo int) {
	if n.shorten == nil {
		return
	}
	for k, t := range n.shorten[lo : lo+len(z)] {
		z[k] = float64(z[k] * t)
	}
}

// beside are what the rows' |φ'| are multiplied by to be held against the clip. The last
// ones are kept, as a descent asks for the same at each step.
func (n *frameNorms) beside(p Slope) []float64 {
	if p.Apart > 0 && n.shorten == nil {
		return n.length
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	if kind := (Slope{Constant: p.Constant, Apart: p.Apart}); n.kept == nil || n.keptFor != kind {
		n.kept, n.keptFor = make([]float64, len(n.length)), kind
		for i := range n.kept {
			n.kept[i] = n.besideRow(i, p)
		}
	}
	return n.kept
}

func (n *frameNorms) besideRow(i int, p Slope) float64 {
	t := n.row(i)
	switch {
	case p.Apart > 0:
		return t
	case p.Constant > 0:
		return math.Hypot(t, p.Constant) * (1 + 4*encoding.Unit)
	}
	return math.Max(t, 1)
}

package encoding

// Folded is a weight vector in terms of raw rows: the score of row x with
// factor s is s·(⟨v, x⟩ + offset) + intercept.
type Folded struct {
	V                 []float64
	Offset, Intercept float64 // intercept is a weight times the constant
}

// Fold writes w in terms of raw rows; f.v is reused.
func (e *Encoding) Fold(w []float64, f *Folded) {
	f.V = append(f.V[:0], w[:e.Columns]...)
	f.Offset, f.Intercept = 0, 0
	if e.Intercept {
		f.Intercept = w[e.Columns] * e.Constant
	}
	if e.Scale == nil {
		return
	}
	for j, wj := range f.V {
		f.Offset += float64(wj * e.Shift[j])
		f.V[j] = wj * e.Scale[j]
	}
}

// FoldAll writes several weight vectors in terms of raw rows, and the v of all, one after
// the other.
func (e *Encoding) FoldAll(ws [][]float64) (fs []Folded, v []float64) {
	fs = make([]Folded, len(ws))
	for j, w := range ws {
		e.Fold(w, &fs[j])
		v = append(v, fs[j].V...)
	}
	return fs, v
}

// Unfold turns the sums Σeᵢxᵢ, Σeᵢ and Σcᵢ over raw rows, with eᵢ = cᵢsᵢ, into
// the sum of cᵢ times the encoded row.
func (e *Encoding) Unfold(dst, raw []float64, sumE, sumC float64) {
	copy(dst, raw)
	if e.Scale != nil {
		for j := range raw {
			dst[j] = float64(raw[j]*e.Scale[j]) + float64(e.Shift[j]*sumE)
		}
	}
	if e.Intercept {
		dst[e.Columns] = sumC * e.Constant
	}
}

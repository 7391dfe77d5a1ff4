package table

// degree is that of the splines, which have a continuous second derivative.
const degree = 3

// basis is that of the cubic B-splines on [−1, 1] with the given inner knots, k+4
// functions. They are not negative and sum to 1, so their norm is at most 1, however
// many there are; four of them at most are not 0.
type basis struct {
	knots []float64 // the ends four times, the inner ones once
}

func newBasis(inner []float64) basis {
	var b basis
	for range degree + 1 {
		b.knots = append(b.knots, -1)
	}
	b.knots = append(b.knots, inner...)
	for range degree + 1 {
		b.knots = append(b.knots, 1)
	}
	return b
}

// at returns the values at u of the functions first to first+3, by the recurrence of
// Cox and de Boor: each function of one degree more is a mean of two neighbours.
func (b basis) at(u float64) (first int, values [degree + 1]float64) {
	end := len(b.knots) - degree - 2 // the last interval begins at this knot
	span := degree
	for span < end && u >= b.knots[span+1] {
		span++
	}
	values[0] = 1
	for d := 1; d <= degree; d++ {
		var carried float64
		for k := range d {
			lo, hi := b.knots[span+1+k-d], b.knots[span+1+k]
			part := values[k] / (hi - lo)
			values[k] = carried + float64((hi-u)*part)
			carried = (u - lo) * part
		}
		values[d] = carried
	}
	return span - degree, values
}

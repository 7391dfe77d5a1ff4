package table

// entries are the features of a row that aren't 0, in their order.
type entries struct {
	indices []int
	values  []float64
}

func (r *entries) add(j int, v float64) {
	if v != 0 {
		r.indices, r.values = append(r.indices, j), append(r.values, v)
	}
}

// encode makes features of the cells of a record.
func (r *entries) encode(e *Encoder, cells []cell) {
	r.indices, r.values = r.indices[:0], r.values[:0]
	for i := range e.blocks {
		k := &e.blocks[i]
		x := &cells[k.a.at]
		switch k.shape {
		case line:
			r.add(k.first, x.u)
			r.indicate(k, x)
		case square:
			r.add(k.first, float64(2*float64(x.u*x.u))-1)
		case spline:
			r.spline(k, x, e.splines[i])
		case onehot:
			if x.level > 0 {
				r.add(k.first+x.level-1, 1)
			}
		case product:
			r.add(k.first, x.u*cells[k.b.at].u)
		case slopes:
			if level := cells[k.b.at].level; level > 0 {
				r.add(k.first+level-1, x.u)
			}
		case pairs:
			if level := cells[k.b.at].level; x.level > 0 && level > 0 {
				r.add(k.first+(x.level-1)*len(k.b.levels)+level-1, 1)
			}
		}
	}
}

// indicate sets the last feature of a block where a number is missing.
func (r *entries) indicate(k *block, x *cell) {
	if x.missing {
		r.add(k.first+k.width()-1, 1)
	}
}

// spline writes the splines, of which a missing number has none.
func (r *entries) spline(k *block, x *cell, s basis) {
	if !x.missing {
		first, values := s.at(x.u)
		for i, v := range values {
			if first+i > 0 {
				r.add(k.first+first+i-1, v)
			}
		}
	}
	r.indicate(k, x)
}

// entries is how many features at most can be other than 0 in one row.
func (e *Encoder) entries() int {
	most := len(e.blocks)
	for _, b := range e.blocks {
		if b.shape == spline {
			most += degree
		}
	}
	return most
}

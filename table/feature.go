package table

import (
	"fmt"
	"slices"
)

const maxFeatures = 1 << 20 // that a schema may make: each has a name

// Feature is one column of the encoded rows.
type Feature struct {
	// Name is unique, such as "age", "log(income)", "age^2", "bs(age)1", "ward=icu",
	// "age=missing", "age:weight", "age:ward=icu" or "sex=f:ward=icu".
	Name string
	// Columns are the one or two columns of the schema that it is made of, and Levels the
	// level of each that it stands for, empty where it is the number.
	Columns []string
	Levels  []string
	// OneHot features are 0 or 1; the others lie in [−1, 1].
	OneHot bool
	// Block numbers, from 0, the features that lie together in a ball of radius 1:
	// at most one of them is not 0, or they are a spline's.
	Block int
	// Group is the name of the block's one-hot features, as dpglm.Schema.OneHot needs
	// it, and empty for others.
	Group string
	// Step is that of the column, for which coefficients are shown, and the product of two for
	// the product of two columns that have one; 0 where the schema states none.
	Step float64
}

// StepName is the name with the step, such as "age (per 10)"; empty where there is none.
func (f Feature) StepName() string {
	if f.Step == 0 {
		return ""
	}
	return fmt.Sprintf("%s (per %s)", f.Name, compact(f.Step))
}

// shape says how a block's features are made of one or two inputs.
type shape int

const (
	line    shape = iota // u, and whether it is missing
	square               // 2u²−1
	spline               // a basis of cubic splines in u but for the first, and whether it is missing
	onehot               // which level but the reference
	product              // u·v
	slopes               // u where the level is that one
	pairs                // which pair of levels, neither being the reference
)

// block is what features are made of together.
type block struct {
	shape shape
	a, b  *input
	first int // index of the first feature
}

// input is a column that features are made of.
type input struct {
	column  *Column
	at      int      // among the inputs
	files   []string // the columns of the file: one, but for a OneHot
	name    string   // "age" or "log(age)"
	numeric bool     // a number u in [−1, 1]; else a level
	levels  []string // with a feature each: all but the reference
	missing bool     // numeric: has an indicator
}

func newInput(c *Column, at int) *input {
	in := &input{column: c, at: at, files: c.files(), name: c.Name, numeric: c.Kind == Numeric || c.Kind == Date}
	switch {
	case in.numeric:
		in.missing = c.Missing == MissingIndicator
		if c.Log {
			in.name = "log(" + c.Name + ")"
		}
	case c.Kind == Binary:
		in.levels = c.Positive[:1:1]
		if c.Missing == MissingIndicator {
			in.levels = append(in.levels, missingLevel)
		}
	default:
		reference := c.reference()
		in.levels = slices.DeleteFunc(slices.Clone(c.Levels), func(s string) bool { return s == reference })
		if c.Missing == MissingLevel {
			in.levels = append(in.levels, missingLevel)
		}
	}
	return in
}

// blocks returns what features a schema makes, in their order: the columns' and then
// the interactions'.
func blocks(s *Schema) []block {
	var out []block
	inputs := map[string]*input{}
	for i := range s.Columns {
		c := &s.Columns[i]
		if !s.feature(c) {
			continue
		}
		in := newInput(c, len(inputs))
		inputs[c.Name] = in
		switch {
		case !in.numeric:
			out = append(out, block{shape: onehot, a: in})
		case len(c.Knots) > 0:
			out = append(out, block{shape: spline, a: in})
		default:
			out = append(out, block{shape: line, a: in})
		}
		if c.Square {
			out = append(out, block{shape: square, a: in})
		}
	}
	for _, pair := range s.Interactions {
		out = append(out, interact(inputs[pair[0]], inputs[pair[1]]))
	}
	first := 0
	for i := range out {
		out[i].first = first
		first += out[i].width()
	}
	return out
}

func interact(a, b *input) block {
	switch {
	case a.numeric && b.numeric:
		return block{shape: product, a: a, b: b}
	case a.numeric:
		return block{shape: slopes, a: a, b: b}
	case b.numeric:
		return block{shape: slopes, a: b, b: a}
	}
	return block{shape: pairs, a: a, b: b}
}

// width is the number of features, or one more than are allowed.
func (b *block) width() int {
	switch b.shape {
	case line:
		return 1 + b.indicator()
	case spline:
		return len(b.a.column.Knots) + degree + b.indicator()
	case onehot:
		return len(b.a.levels)
	case slopes:
		return len(b.b.levels)
	case pairs:
		return int(min(maxFeatures+1, int64(len(b.a.levels))*int64(len(b.b.levels))))
	}
	return 1
}

// indicator is 1 if the block ends with that of missing values.
func (b *block) indicator() int {
	if b.a.missing {
		return 1
	}
	return 0
}

// layout describes the features of a schema.
func layout(s *Schema) []Feature {
	var out []Feature
	for i, b := range blocks(s) {
		for _, f := range b.features() {
			f.Block = i
			out = append(out, f)
		}
	}
	return out
}

func (b *block) features() []Feature {
	switch name := b.a.name; b.shape {
	case square:
		return []Feature{b.a.number(name + "^2")}
	case spline:
		var out []Feature
		for k := range len(b.a.column.Knots) + degree {
			out = append(out, b.a.number(fmt.Sprintf("bs(%s)%d", name, k+1)))
		}
		return append(out, b.a.indicators()...)
	case onehot:
		return b.a.each(b.a.column.Name)
	case product:
		return []Feature{{Name: name + ":" + b.b.name, Columns: b.columns(), Levels: []string{"", ""}, Step: b.step()}}
	case slopes:
		out := b.b.each("")
		for k, f := range out {
			out[k] = Feature{Name: name + ":" + f.Name, Columns: b.columns(), Levels: []string{"", f.Levels[0]}, Step: b.step()}
		}
		return out
	case pairs:
		var out []Feature
		for _, f := range b.a.each("") {
			for _, g := range b.b.each("") {
				out = append(out, Feature{Name: f.Name + ":" + g.Name, Columns: b.columns(), Levels: []string{f.Levels[0], g.Levels[0]},
					OneHot: true, Group: b.a.name + ":" + b.b.name})
			}
		}
		return out
	}
	return append([]Feature{b.a.number(b.a.name)}, b.a.indicators()...)
}

func (b *block) columns() []string { return []string{b.a.column.Name, b.b.column.Name} }

// step is that of two columns, of which a level has none.
func (b *block) step() float64 {
	first, second := b.a.column.Per, b.b.column.Per
	if first == 0 || second == 0 {
		return first + second
	}
	return first * second
}

// number is a feature made of the input's number.
func (in *input) number(name string) Feature {
	return Feature{Name: name, Columns: []string{in.column.Name}, Levels: []string{""}, Step: in.column.Per}
}

// indicators is the feature for missing numbers, if there is one.
func (in *input) indicators() []Feature {
	if !in.missing {
		return nil
	}
	name := in.column.Name + "=" + missingLevel
	return []Feature{{Name: name, Columns: []string{in.column.Name}, Levels: []string{missingLevel}, OneHot: true, Group: name}}
}

// each is a feature for each level.
func (in *input) each(group string) []Feature {
	out := make([]Feature, len(in.levels))
	for k, level := range in.levels {
		out[k] = Feature{Name: in.column.Name + "=" + level, Columns: []string{in.column.Name}, Levels: []string{level}, OneHot: true, Group: group}
	}
	return out
}

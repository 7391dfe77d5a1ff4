package table

import (
	"fmt"
	"slices"
)

// intake reads the records of a source for training, or for prediction, and makes rows of them.
type intake struct {
	encoder *Encoder
	binding *Binding
	header  []string
	wanted  []int // the fields to keep of each record: those of the inputs first

	label, person, exposure, weight int // where they are among the wanted fields; −1 if not read
	labels                          *labels
	persons                         personCodes
	weights                         *exposures
	problems                        problems
	filter                          *filter // of records; nil for none
	seen                            seen    // of records that it leaves out, and that are never at risk
}

// row is what becomes of a record. Its slices are valid while it is handed on.
type row struct {
	entries
	label    float64
	person   int
	exposure float64
	weight   float64

	id     string // of the person, who has no number yet
	at     place
	faults []error // all that is wrong with the record
	before int     // of the faults, those of columns before the person's
}

func newIntake(src Source, s Schema, training bool) (*intake, error) {
	e, err := NewEncoder(s)
	if err != nil {
		return nil, err
	}
	if err := givenSource(src); err != nil {
		return nil, err
	}
	header := slices.Clone(src.Header())
	b, err := e.Bind(header)
	if err != nil {
		return nil, err
	}
	r := &intake{encoder: e, binding: b, header: header, wanted: b.at, label: -1, person: -1, exposure: -1, weight: -1}
	if !training {
		return r, nil
	}
	if _, made := src.(*episodes); len(s.Where) > 0 && !made { // of records, of which these were made
		if r.filter, err = newFilter(&s, header); err != nil {
			return nil, err
		}
	}
	if c := e.schema.column(s.Weight); c != nil {
		r.weights = &exposures{column: c, what: "a weight", number: newNumber(c, newAbsent(&e.schema, c))}
	}
	r.labels = newLabels(e.label, e.schema.column(s.Label))
	r.persons = personCodes{schema: &e.schema, codes: map[string]int{}}
	for _, role := range []struct {
		name string
		at   *int
	}{{s.Label, &r.label}, {s.Person, &r.person}, {s.AtRisk(), &r.exposure}, {s.Weight, &r.weight}} {
		if role.name == "" {
			continue
		}
		at := slices.Index(header, role.name)
		if at < 0 {
			return nil, absentColumn(role.name, header, "the header")
		}
		*role.at = len(r.wanted)
		r.wanted = append(r.wanted[:len(r.wanted):len(r.wanted)], at)
	}
	return r, nil
}

// some refuses a source without records.
func (r *intake) some() error {
	switch {
	case r.binding.rows > 0:
		return nil
	case r.seen.never > 0:
		return noRows(`no record is at risk between the cuts of the schema's "followup"; are these in the unit of the file's times?`)
	case r.seen.left > 0:
		return noRows(`no row fulfils the schema's "where"`)
	}
	return noRows("there is no row after the header")
}

// record encodes one record, of the wanted fields, or says all that is wrong with it: of each
// column, and of a one-hot group the first. A person's number is left to number.
func (r *intake) record(w *row, fields []string) {
	w.faults, w.id, w.at = nil, "", r.binding.place
	fault := func(err error) {
		if err != nil {
			w.faults = append(w.faults, placed(err, w.at))
		}
	}
	var err error
	if r.label >= 0 {
		w.label, err = r.labels.take(fields[r.label], w.at)
		fault(err)
	}
	w.before = len(w.faults)
	if r.person >= 0 {
		w.id, err = r.persons.id(fields[r.person])
		fault(err)
	}
	if r.exposure >= 0 {
		w.exposure, err = r.binding.exposures.read(fields[r.exposure], w.at)
		fault(err)
	}
	if r.weight >= 0 {
		w.weight, err = r.weights.read(fields[r.weight], w.at)
		fault(err)
	}
	if r.binding.read(fields) != nil {
		for i, in := range r.encoder.inputs {
			fault(r.encoder.cell(i, fields[:len(in.files)], &r.binding.cells[i]))
			fields = fields[len(in.files):]
		}
	}
	if w.faults == nil {
		r.binding.encode(&w.entries)
	}
}

// number gives the person of a record its number.
func (r *intake) number(w *row) {
	if w.id == "" {
		return
	}
	var err error
	if w.person, err = r.persons.code(w.id); err != nil {
		w.faults = slices.Insert(w.faults, w.before, placed(err, w.at))
	}
}

// apart is an intake of the same records that shares nothing which changes, for a batch.
func (r *intake) apart() *intake {
	own := *r
	own.binding = r.binding.apart()
	if r.labels != nil {
		own.labels = newLabels(r.labels.labelField, r.labels.column)
	}
	own.weights = r.weights.apart()
	return &own
}

// add adds what an intake apart has seen, of records that follow those of this one, which
// forgets it.
func (r *intake) add(own *intake) {
	r.seen.left, own.seen.left = r.seen.left+own.seen.left, 0
	r.binding.add(own.binding)
	if r.labels != nil {
		r.labels.add(own.labels)
	}
	r.weights.add(own.weights)
}

// warnings says what is odd, though not wrong.
func (r *intake) warnings() []string {
	var out []string
	listed := map[string]bool{}
	for _, c := range r.encoder.schema.Columns {
		for _, name := range c.files() {
			listed[name] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(r.header), func(name string) bool { return listed[name] })
	if len(left) > 0 {
		out = append(out, fmt.Sprintf("columns that the schema doesn't mention are left out: %s", list(quoted(left), "and")))
	}
	out = append(out, r.seen.warnings()...)
	if r.labels != nil {
		out = append(out, r.labels.warnings(r.binding.rows)...)
	}
	if r.weights != nil {
		if !r.weights.some {
			out = append(out, fmt.Sprintf("column %s: every row has a weight of 0; a model of these rows learns nothing", quote(r.weights.column.Name)))
		}
		out = append(out, r.weights.outside.warning(r.weights.column, r.binding.rows)...)
	}
	return slices.Concat(out, r.binding.Warnings(), r.persons.warnings(r.binding.rows))
}

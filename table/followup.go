package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// shortest is the part of the narrowest period that no time at risk is taken to be shorter than.
const shortest = 1e-4

// Episodes is the schema of the rows that [Read] makes of a Followup: the schema itself where there is none. It is what a model has.
func (s Schema) Episodes() Schema {
	f := s.Followup
	if f == nil || len(f.Cuts) < 2 || s.column(s.Label) == nil {
		return s
	}
	s = s.clone()
	s.Followup, s.Exposure = nil, timeColumn
	if s.Person == "" {
		s.Person, s.MaxRows = recordColumn, 1
		s.Columns = append(s.Columns, Column{Name: recordColumn, Kind: ID, made: true})
	}
	s.MaxRows *= len(f.Cuts) - 1
	widest, narrowest := 0.0, math.Inf(1)
	period := Column{Name: PeriodColumn, Kind: Categorical, made: true}
	for i, end := range f.Cuts[1:] {
		widest, narrowest = math.Max(widest, end-f.Cuts[i]), math.Min(narrowest, end-f.Cuts[i])
		period.Levels = append(period.Levels, f.level(i))
	}
	if len(period.Levels) > 1 {
		s.Columns = append(s.Columns, period)
	}
	*s.column(s.Label) = Column{Name: s.Label, Kind: Count, Cap: 1, made: true}
	s.Columns = append(s.Columns, Column{Name: timeColumn, Kind: Numeric, Range: []float64{shortest * narrowest, widest}, made: true})
	return s
}

// between stands between the ends of a period.
const between = " to "

// level names period i.
func (f *Followup) level(i int) string {
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return text(f.Cuts[i]) + between + text(f.Cuts[i+1])
}

// episodes is a source of the episodes of another one's records, and their schema.
func (s Schema) episodes(src Source) (Source, Schema, error) {
	if s.Followup == nil || src == nil {
		return src, s, nil
	}
	if err := s.Validate(); err != nil {
		return nil, s, err
	}
	if err := givenSource(src); err != nil {
		return nil, s, err
	}
	header := slices.Clone(src.Header())
	e := &episodes{Source: src, f: s.Followup, comma: s.Decimal == comma, label: newLabelField(&s, s.column(s.Label)), person: s.Person}
	for _, role := range []struct {
		name string
		at   *int
	}{{s.Followup.Start, &e.start}, {s.Followup.End, &e.end}, {s.Label, &e.event}} {
		*role.at = slices.Index(header, role.name)
		if role.name != "" && *role.at < 0 {
			return nil, s, absentColumn(role.name, header, "the header")
		}
	}
	var err error
	if e.filter, err = newFilter(&s, header); err != nil {
		return nil, s, err
	}
	for _, name := range []string{PeriodColumn, timeColumn, recordColumn} {
		if slices.Contains(header, name) {
			return nil, s, columnError(`column %s of the header has a name that the schema's "followup" gives to a column of its own; rename it`, quote(name))
		}
	}
	if e.header = append(header, PeriodColumn, timeColumn); s.Person == "" {
		e.header = append(e.header, recordColumn)
	}
	return e, s.Episodes(), nil
}

// risk is when a record is at risk, and whether that ended by the event.
type risk struct {
	from, to float64
	happened bool
}

// seen are how many records there are, are left out by conditions, and are there but never at risk between the cuts; of these, how many
// end by an event, and how many of such events are between the cuts, as they begin at the same time.
type seen struct{ all, left, never, events, sudden int }

func (s *seen) add(at *risk, cuts []float64) {
	first, last := cuts[0], cuts[len(cuts)-1]
	if math.Min(at.to, last) > math.Max(at.from, first) {
		return
	}
	s.never++
	if at.happened {
		s.events++
	}
	begins := at.from
	if math.IsInf(begins, -1) { // no column says
		begins = 0
	}
	if at.happened && begins == at.to && at.to >= first && at.to <= last {
		s.sudden++
	}
}

// warnings tells of records that aren't there, or add nothing.
func (s *seen) warnings() (out []string) {
	if s.never > 0 {
		text := fmt.Sprintf("%d records are never at risk between the cuts, and add nothing", s.never)
		if s.events > 0 {
			text += fmt.Sprintf(": %d of them end by the event, and these events are lost", s.events)
		}
		if s.sudden > 0 {
			text += fmt.Sprintf(", of which %d are between the cuts, at the very time at which the record begins (have such a record end a little later, such as half a day)", s.sudden)
		}
		out = append(out, text)
	}
	if s.left > 0 {
		out = append(out, fmt.Sprintf(`%d records don't fulfil the schema's "where" and aren't there`, s.left))
	}
	return out
}

// episodes are those of a source's records, one after the other.
type episodes struct {
	Source
	f                 *Followup
	comma             bool
	label             *labelField
	person            string
	filter            *filter
	header            []string
	start, end, event int

	fields []string // of the last record, and what an episode has beside
	at     risk
	next   int // period
	seen   seen
}

// counts reports whether records are persons whose number nobody states otherwise.
func (e *episodes) counts(s *Schema) bool {
	return e.person == "" && s.Persons == 0 && s.AtMost == 0
}

func (e *episodes) Header() []string { return e.header }

// Next returns the next episode.
func (e *episodes) Next() ([]string, error) {
	for {
		for ; e.fields != nil && e.next < len(e.f.Cuts)-1; e.next++ {
			low, high := math.Max(e.at.from, e.f.Cuts[e.next]), math.Min(e.at.to, e.f.Cuts[e.next+1])
			if !(high > low) {
				continue
			}
			ends := e.at.happened && e.at.to <= e.f.Cuts[e.next+1]
			n := len(e.Source.Header())
			e.fields[e.event] = "0"
			if ends {
				e.fields[e.event] = "1"
			}
			e.fields[n], e.fields[n+1] = e.f.level(e.next), e.number(high-low)
			e.next++
			return e.fields, nil
		}
		if err := e.record(); err != nil {
			return nil, err
		}
	}
}

// number is one as the file has them.
func (e *episodes) number(x float64) string {
	text := []byte(strconv.FormatFloat(x, 'g', -1, 64))
	if i := slices.Index(text, '.'); i >= 0 && e.comma {
		text[i] = ','
	}
	return string(text)
}

// record reads the next record that is there.
func (e *episodes) record() error {
	for {
		fields, err := e.Source.Next()
		if err != nil {
			return err
		}
		unit, number := e.Source.Place()
		where := place{unit, number}
		n := len(e.Source.Header())
		if len(fields) != n {
			return placed(fileError(0, "it has %d fields where the header has %d", len(fields), n), where)
		}
		if !e.filter.fulfilled(fields) {
			e.seen.left++
			continue
		}
		e.seen.all++
		e.fields = append(append(e.fields[:0], fields...), "", "")
		if e.person == "" {
			e.fields = append(e.fields, strconv.Itoa(e.seen.all))
		}
		e.next = 0
		if err := e.times(); err != nil {
			return placed(err, where)
		}
		e.seen.add(&e.at, e.f.Cuts)
		return nil
	}
}

// times reads when a record is at risk, and how that ended.
func (e *episodes) times() (err error) {
	e.at.from = math.Inf(-1)
	if e.start >= 0 {
		if e.at.from, err = e.time(e.f.Start, e.fields[e.start]); err != nil {
			return err
		}
	} else if e.f.Cuts[0] < 0 {
		e.at.from = 0
	}
	if e.at.to, err = e.time(e.f.End, e.fields[e.end]); err != nil {
		return err
	}
	if e.start < 0 && e.at.to < min(0, e.f.Cuts[0]) || e.at.to < e.at.from {
		begins := "0"
		if e.start >= 0 {
			begins = e.fields[e.start]
		}
		return valueError(e.f.End, "%s is before the time at risk begins, %s; correct one of them", quote(e.fields[e.end]), quote(begins))
	}
	happened, _, err := e.label.read(e.fields[e.event])
	e.at.happened = happened == 1
	return err
}

func (e *episodes) time(column, text string) (float64, error) {
	x, err := parseNumber(trim(text), e.comma)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, valueError(column, "%s is no time; it must be a number, in the unit of the cuts", quote(text))
	}
	return x, nil
}

// Recorded reports whether a schema of Episodes has records for persons, of which each is one: their number is public.
func (s Schema) Recorded() bool { return s.Followup == nil && s.Person == recordColumn }

// Hazards reports whether a schema is one of Episodes: its rows are times at risk, each in one period, and a model of them has
// hazards.
func (s Schema) Hazards() bool {
	label := s.column(s.Label)
	return s.Followup == nil && s.Exposure == timeColumn && s.Person != "" && label != nil && label.Kind == Count && label.Cap == 1
}

// PeriodLevels are the levels of the PeriodColumn of a schema of Episodes, in the order of time: nil where there is but one period, or none.
func (s Schema) PeriodLevels() []string {
	if c := s.column(PeriodColumn); s.Hazards() && c != nil && c.Kind == Categorical {
		return slices.Clone(c.Levels)
	}
	return nil
}

// Periods are the ends of the periods that PeriodLevels name.
func (s Schema) Periods() (ends [][2]float64) {
	for _, level := range s.PeriodLevels() {
		from, to, _ := strings.Cut(level, between)
		low, err := strconv.ParseFloat(from, 64)
		high, also := strconv.ParseFloat(to, 64)
		if err != nil || also != nil || !(low < high) {
			return nil // of another schema, which has such names
		}
		ends = append(ends, [2]float64{low, high})
	}
	return ends
}

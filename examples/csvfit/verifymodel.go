package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
)

// stated is what a model's file says beside what package dpglm tells of it.
type stated struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Library string `json:"library"`
	Budget  string `json:"budget"` // of an inference
	Sum     string `json:"sum"`
	Model   struct {
		Library string `json:"library"`
	} `json:"model"` // of an inference
}

// verifyModel checks a model, or an inference with a model in it. Reading has it refused where its
// checksum doesn't fit, or what stands beside the ledger isn't what that claims; whether the releases
// keep the claim isn't looked at there.
func verifyModel(path string) (*verdict, error) {
	m, found, err := readModel(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file stated
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if file.Library == "" {
		file.Library = file.Model.Library
	}
	l := m.Ledger()
	c, _ := l.Claim()
	v := &verdict{flag: "model", path: path, ledgers: []statement{{"guarantee", l, true}}}
	v.check("checksum", file.Sum, "that of what is written", true)
	v.check("format", fmt.Sprintf("%s, version %d, of dpglm %s", file.Format, file.Version, file.Library), "read in full", true)
	v.check("unit", l.Unit().String(), "that of each release", true)
	v.check("n, group", fmt.Sprintf("%d, %d", c.Rows, max(c.Group, 1)), "what the ledger claims", true)
	if err := v.claims(v.ledgers[0]); err != nil {
		return nil, err
	}
	if file.Budget != "" {
		asked := budgetOf(c, l.Unit()).String()
		v.check("budget of the intervals", file.Budget, asked, file.Budget == asked)
	}
	v.byFacts(m)
	v.check("weights", "all of them", "as many as the schema makes, and finite", true)
	if err := v.intervals(text, file.Library, found); err != nil {
		return nil, err
	}
	v.modelLeaves(m, file.Library)
	line, rest, _ := strings.Cut(explained(l), "\n")
	if l.CallerNoise() {
		line += ", VOID against those who know the noise's seed"
	}
	v.guarantee = line + "\n" + rest
	return v, nil
}

// byFacts checks what the ledger says of persons and bounds against the schema.
func (v *verdict) byFacts(m *dpglm.Model) {
	e := m.Encoder()
	if e == nil {
		return
	}
	s, l := e.Schema(), m.Ledger()
	c, _ := l.Claim()
	neighbours := mechanisms.ReplaceOne
	if s.AtMost > 0 {
		neighbours = mechanisms.AddRemove
	}
	is := l.Unit().Of == mechanisms.Person
	v.check("schema, persons", rowsOf(s.Person != "", s.MaxRows), rowsOf(is, c.PersonRows), is == (s.Person != "") && c.PersonRows == s.MaxRows)
	v.check("schema, neighbours", string(neighbours), string(l.Unit().Neighbours), l.Unit().Neighbours == neighbours)
	if most := max(s.Persons, s.AtMost); most > 0 {
		v.check("schema, n", fmt.Sprintf("at most %d", most), fmt.Sprint(c.Rows), c.Rows <= most)
	}
	if s.Person != "" {
		v.check("schema, number of persons", said(s.Persons+s.AtMost > 0), said(!c.Occur), c.Occur == (s.Persons+s.AtMost == 0))
	}
}

// rowsOf says whether persons are told apart, and how many rows of each count.
func rowsOf(persons bool, most int) string {
	if !persons {
		return "not told apart"
	}
	return fmt.Sprintf("at most %d rows of each count", most)
}

// said says where a number of persons is from.
func said(given bool) string {
	if given {
		return "from public knowledge"
	}
	return "that of those who occur"
}

// modelLeaves lists what the file can't show of a model.
func (v *verdict) modelLeaves(m *dpglm.Model, library string) {
	l := m.Ledger()
	c, _ := l.Claim()
	v.leave("who wrote it", "the checksum is no signature: whoever changes a weight, or a release's noise, can make it anew; compare it with the one that the curator gave out")
	v.leave("weights", "that they are those which were released")
	noise := "that each release drew the noise that the ledger has, by the system's randomness"
	if l.CallerNoise() {
		noise += ": the file says that it didn't"
	} else {
		noise += ": no other source is stated"
	}
	v.leave("noise", noise)
	v.leave("releases", fmt.Sprintf("that there were no others, and that each moved by no more than its sensitivity as what is protected changes: that is up to dpglm %s", library))
	v.leave("other fits", "that nothing else was released of the same rows, an evaluation among others, or that it is counted elsewhere (-budget)")
	ranges := "that ranges, levels and thresholds are public knowledge, and not from the rows"
	if e := m.Encoder(); e != nil && e.Schema().Observed() {
		ranges = "that all but the label is public: ranges and levels marked as observed are from the rows"
	}
	v.leave("schema", ranges)
	v.leave("beginning", "whether the fit began at another model (-prior) or at rows (-public), and that these were public: the file doesn't say")
	v.leave("n", fmt.Sprintf("that it is %d", c.Rows))
	u := l.Unit()
	switch {
	case u.Neighbours == mechanisms.AddRemove:
		v.leave("bound on n", "that it is public knowledge")
	case u.Of == mechanisms.Person:
		v.leave("number of persons", "that it may be public")
	case u == mechanisms.OneLabel():
		v.leave("label alone", "that who is in the table, and all else about them, is public")
	}
	if u.Of == mechanisms.Person {
		v.leave("persons", "that rows of one person have one id")
	} else if u.Of == mechanisms.Row {
		v.leave("rows", "that nobody has several, or more than the group protects")
	}
	if c.Group > 1 {
		v.leave("group", fmt.Sprintf("that no more than %d belong together", c.Group))
	}
}

// verifyMoments checks moments, whose reading refuses what contradicts itself.
func verifyMoments(path string) (*verdict, error) {
	m, err := readMoments(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file stated
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	l := m.Ledger()
	c, _ := l.Claim()
	v := &verdict{flag: "moments", path: path, ledgers: []statement{{"guarantee", l, true}}}
	v.check("checksum", file.Sum, "that of what is written", true)
	v.check("format", fmt.Sprintf("%s, version %d", file.Format, file.Version), "read in full", true)
	v.check("unit", l.Unit().String(), "that of each release", true)
	v.check("n, group", fmt.Sprintf("%d, %d", c.Rows, max(c.Group, 1)), "what the ledger claims", true)
	if err := v.claims(v.ledgers[0]); err != nil {
		return nil, err
	}
	v.leave("who wrote it", "the checksum is no signature: compare it with the one that the curator gave out")
	v.leave("moments", "that they are what the ledger's releases gave: sums with its noise, of the rows that it counts")
	v.leave("other releases", "that nothing else was released of the same rows, or that it is counted elsewhere (-budget)")
	v.leave("schema", "that ranges and levels are public knowledge, and not from the rows: the file hasn't the schema")
	v.leave("rows", "that nobody has several, or more than the group protects")
	line, rest, _ := strings.Cut(explained(l), "\n")
	if l.CallerNoise() {
		line += ", VOID against those who know the noise's seed"
	}
	v.guarantee = line + "\n" + rest
	return v, nil
}

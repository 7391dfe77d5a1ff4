package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// hostile are names that would do harm, or break the page, if they weren't escaped.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, `</style></title>`, `{{.Rows}} & <b>`, `x^2`, `]]>`}

// people are rows of so many, with hostile names of columns and levels; the label, of the
// given kind, grows with the first column.
func people(t *testing.T, rows int, kind string) *table.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	s := table.Schema{Version: table.Version, Label: hostile[1], Missing: []string{}}
	s.Columns = []table.Column{
		{Name: hostile[0], Kind: table.Numeric, Range: []float64{0, 10}, Square: true},
		{Name: hostile[2], Kind: table.Categorical, Levels: hostile[3:], Reference: hostile[4]},
		{Name: "income", Kind: table.Numeric, Range: []float64{1, 1000}, Log: true, Missing: table.MissingIndicator},
		{Name: hostile[1], Kind: table.Numeric, Range: []float64{-5, 25}},
		{Name: "unread", Kind: table.Ignored},
	}
	if kind == "classes" {
		above := 5.0
		s.Columns[3] = table.Column{Name: hostile[1], Kind: table.Binary, Above: &above}
	}
	var b strings.Builder
	for _, c := range s.Columns {
		b.WriteString(`"` + strings.ReplaceAll(c.Name, `"`, `""`) + `",`)
	}
	b.WriteString("\n")
	for range rows {
		x := 10 * r.Float64()
		fmt.Fprintf(&b, "%.3f,%s,%.1f,%.3f,0,\n", x, hostile[3+r.IntN(3)], 1+900*r.Float64(), x+3*r.NormFloat64())
	}
	read, err := table.ReadCSV(strings.NewReader(strings.ReplaceAll(b.String(), ",\n", "\n")), s)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// contentOf fits and evaluates with seeded noise.
func contentOf(t *testing.T, rows int, kind string, inferred bool) Content {
	t.Helper()
	all, err := dpglm.NewTableDataset(people(t, rows, kind))
	if err != nil {
		t.Fatal(err)
	}
	train, held, err := all.Split(0.3, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := dpglm.Problem{Loss: losses.Squared{}}
	if kind == "classes" {
		p.Loss = losses.Logistic{}
	}
	budget, env := dpglm.ApproxDP(3, 1e-6), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	c := Content{Data: "people.csv", Method: "m", Radius: 1, Shape: train.Shape()}
	if inferred {
		c.Inference, err = dpglm.Infer(t.Context(), train, p, budget, dpglm.InferConfig{}, env)
		c.Model = c.Inference.Model()
	} else {
		c.Model, err = dpglm.Auto(t.Context(), train, p, budget, env)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.Evaluation, err = dpglm.Evaluate(t.Context(), held, c.Model, budget, dpglm.EvaluateConfig{}, env); err != nil {
		t.Fatal(err)
	}
	both, err := mechanisms.Parallel("both", c.Model.Ledger(), c.Evaluation.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	c.Ledger = both.WithClaim(mechanisms.Claim{Rows: rows, Epsilon: 3, Delta: 1e-6})
	return c
}

// element is one of a page that was read back.
type element struct {
	name     string
	attr     map[string]string
	text     string // of it and all in it
	children []*element
}

// read parses a page as XML, which it is: what isn't well-formed fails.
func read(t *testing.T, page []byte) *element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	open := []*element{{}}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return open[0]
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			e := &element{name: v.Name.Local, attr: map[string]string{}}
			for _, a := range v.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			last := open[len(open)-1]
			last.children, open = append(last.children, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, e := range open {
				e.text += string(v)
			}
		}
	}
}

// all are the elements of a name, at any depth.
func (e *element) all(name string) (found []*element) {
	for _, c := range e.children {
		if c.name == name {
			found = append(found, c)
		}
		found = append(found, c.all(name)...)
	}
	return found
}

func written(t *testing.T, c Content) (*element, string) {
	t.Helper()
	var a, b bytes.Buffer
	if err := Write(&a, c); err != nil {
		t.Fatal(err)
	}
	if err := Write(&b, c); err != nil || a.String() != b.String() {
		t.Errorf("written again it differs (%v)", err)
	}
	return read(t, a.Bytes()), a.String()
}

// Whatever columns and levels are called, a page is well-formed, loads and runs nothing,
// says of each section what its figures are, and can be read aloud.
func TestPages(t *testing.T) {
	for name, c := range map[string]Content{
		"inference":           contentOf(t, 4000, "classes", true),
		"points":              contentOf(t, 4000, "classes", false),
		"numbers":             contentOf(t, 4000, "numbers", true),
		"nothing to be known": contentOf(t, 40, "classes", true),
	} {
		page, text := written(t, c)
		for _, harm := range []string{"http:", "https:", "//", "url(", "@import", "ZgotmplZ"} {
			if strings.Contains(text, harm) {
				t.Errorf("%s: the page has %q", name, harm)
			}
		}
		checkElements(t, name, page)
		checkSections(t, name, page)
		for _, want := range append([]string{"people.csv", c.Model.Label()}, hostile...) {
			if !strings.Contains(page.text, want) {
				t.Errorf("%s: %q isn't on the page", name, want)
			}
		}
	}
}

// No line breaks inside a flag.
func TestFlagsAreWhole(t *testing.T) {
	for rule := range strings.Lines(style) {
		if strings.HasPrefix(rule, "code {") && strings.Contains(rule, "white-space: nowrap;") {
			return
		}
	}
	t.Error("a line may break in code, as after the sign of -method")
}

// checkElements refuses what a page may not have, and pictures and tables without words.
func checkElements(t *testing.T, name string, e *element) {
	for _, c := range e.children {
		if slices.Contains([]string{"script", "img", "link", "iframe", "object", "embed", "form", "a", "use", "image"}, c.name) {
			t.Errorf("%s: an element %s", name, c.name)
		}
		for key := range c.attr {
			if strings.HasPrefix(key, "on") || key == "src" || key == "href" {
				t.Errorf("%s: an attribute %s", name, key)
			}
		}
		switch c.name {
		case "svg":
			titles := c.all("title")
			if c.attr["aria-hidden"] != "true" && (c.attr["role"] != "img" || len(titles) != 1 || titles[0].text == "") {
				t.Errorf("%s: a picture without a title", name)
			}
		case "table":
			for _, h := range c.all("th") {
				if h.attr["scope"] == "" {
					t.Errorf("%s: header %q has no scope", name, h.text)
				}
			}
			if len(c.all("thead")) != 1 {
				t.Errorf("%s: a table without a head", name)
			}
		}
		checkElements(t, name, c)
	}
}

// checkSections asks for a mark in each section, the right one.
func checkSections(t *testing.T, name string, page *element) {
	want := []string{"Guarantee public", "Coefficients released", "How well it predicts released", "What was released public", "Data and settings public",
		"How it was chosen public", "Who is trusted public", "Checks of NIST SP 800-226 public", "Where it is from public", "What is not here public"}
	if strings.Contains(page.text, "a prediction") {
		want = slices.Insert(want, 3, "At other ε: a prediction public")
	}
	var got []string
	for _, s := range page.all("section") {
		mark := s.attr["data-mark"]
		got = append(got, s.all("h2")[0].text+" "+mark)
		if marks := s.all("span"); len(marks) == 0 || marks[0].text != mark {
			t.Errorf("%s: the section %q doesn't show its mark", name, s.all("h2")[0].text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: sections %q, want %q", name, got, want)
	}
	if n := len(page.all("main")[0].children); n != len(want)+1 {
		t.Errorf("%s: %d parts, and some are in no section", name, n-1)
	}
}

// The guarantee is about no more than the ledger's, and curves lie above the true ones.
func TestGuarantee(t *testing.T) {
	l, err := mechanisms.Gaussian{Mu: 0.4}.Ledger("g", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	power, err := powerOf(l)
	if err != nil {
		t.Fatal(err)
	}
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for x := -3.0; x <= 3; x += 0.25 { // α = Φ(x), and the best test finds Φ(x + μ)
		if got, want := power(normal(x)), normal(x+0.4); got < want || got > want+0.005 {
			t.Errorf("at α = %.4f a test finds %.4f, by the page at most %.4f", normal(x), want, got)
		}
	}
	claim := mechanisms.Claim{Rows: 9, Epsilon: 2, Delta: 1e-6}
	g, err := newGuarantee(l.WithClaim(claim), claim, nil)
	if err != nil {
		t.Fatal(err)
	}
	epsilon, _ := l.Epsilon(1e-6)
	if want := atMost(epsilon, 3); g.Epsilon != want || g.Guess != "58"+space+"%" { // Φ(μ/2) = 0.5793
		t.Errorf("%+v, want ε = %s", g, want)
	}
}

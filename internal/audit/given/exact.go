package given

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// ExactModel is a model of the rows of a folder such as testdata/limit, as statsmodels fits it.
type ExactModel struct {
	Name, Family     string
	Columns          []string
	X                *mat.Dense
	Y                []float64
	Offsets, Weights []float64 // nil where there are none
	Beta, Error      []float64 // the intercept last; NaN where there is no standard error
	Thresholds       []float64 // of ordinal labels
}

// ExactModels are those of a folder; a test whose folder isn't there is skipped.
func ExactModels(t *testing.T, folder string) (all []*ExactModel) {
	t.Helper()
	lines := readCSV(t, filepath.Join(folder, "coefficients.csv"), false)
	const header = "model,set,family,label,offset,weight,column,estimate,error"
	if got := strings.Join(lines[0], ","); got != header {
		t.Fatalf("%s has the columns %s, want %s: run limit.py again", folder, got, header)
	}
	for _, line := range lines[1:] {
		name, set, column := line[0], line[1], line[6]
		if len(all) == 0 || all[len(all)-1].Name != name {
			all = append(all, &ExactModel{Name: name, Family: line[2]})
			all[len(all)-1].fill(t, readCSV(t, filepath.Join(folder, set+".csv.gz"), true), line[3:6], lines)
		}
		m, value := all[len(all)-1], number(t, line[7])
		if strings.HasPrefix(column, "threshold ") {
			m.Thresholds = append(m.Thresholds, value)
			continue
		}
		m.Beta, m.Error = append(m.Beta, value), append(m.Error, math.NaN())
		if line[8] != "" {
			m.Error[len(m.Error)-1] = number(t, line[8])
		}
	}
	return all
}

// fill takes the columns that lines of coefficients name out of records, and the label, the offset and
// the weight.
func (m *ExactModel) fill(t *testing.T, records [][]string, roles []string, lines [][]string) {
	t.Helper()
	column := func(name string) (values []float64) {
		at := slices.Index(records[0], name)
		if at < 0 {
			t.Fatalf("%s: there is no column %s", m.Name, name)
		}
		for _, record := range records[1:] {
			values = append(values, number(t, record[at]))
		}
		return values
	}
	for _, line := range lines[1:] {
		if line[0] == m.Name && line[6] != "1" && !strings.HasPrefix(line[6], "threshold ") {
			m.Columns = append(m.Columns, line[6])
		}
	}
	m.X = mat.NewDense(len(records)-1, len(m.Columns), nil)
	for j, name := range m.Columns {
		m.X.SetCol(j, column(name))
	}
	m.Y = column(roles[0])
	if roles[1] != "" {
		m.Offsets = column(roles[1])
	}
	if roles[2] != "" {
		m.Weights = column(roles[2])
	}
}

// Loss is the family's.
func (m *ExactModel) Loss(t *testing.T) losses.Loss {
	t.Helper()
	switch m.Family {
	case "logit":
		return losses.Logistic{}
	case "probit":
		return losses.Probit{}
	case "poisson":
		return losses.Poisson{}
	case "negative binomial":
		return losses.NegativeBinomial{Dispersion: 1}
	case "gamma":
		return losses.Gamma{Least: slices.Min(m.Y) / 2}
	case "tweedie":
		return Tweedie()
	case "ordinal":
		return losses.Ordinal{Thresholds: m.Thresholds}
	case "squared":
		return losses.Squared{}
	}
	t.Fatalf("%s: no loss is known of the family %s", m.Name, m.Family)
	return nil
}

// Tweedie is a user's own loss, the quasi-likelihood of amounts whose variance is in proportion to the
// mean to the power 1.5, with a logarithmic link: 2ye^(−z/2) + 2e^(z/2).
func Tweedie() losses.Custom {
	return losses.Custom{
		Label:            "tweedie",
		Domain:           losses.Amount,
		Phi:              func(z, y float64) float64 { return 2*y*math.Exp(-z/2) + 2*math.Exp(z/2) },
		DPhi:             func(z, y float64) float64 { return math.Exp(z/2) - y*math.Exp(-z/2) },
		AtZero:           func(most float64) float64 { return 2*most + 2 },
		SlopeAtZero:      func(most float64) float64 { return math.Max(1, most-1) },
		SmoothnessWithin: func(z, most float64) float64 { return (most + 1) * math.Exp(z/2) / 2 },
	}
}

// readCSV are the records of a file.
func readCSV(t *testing.T, path string, zipped bool) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("these data don't ship with the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	if zipped {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		r = csv.NewReader(z)
	}
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

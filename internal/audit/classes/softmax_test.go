package classes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
)

// fourClasses are rows whose classes follow a softmax model, the last of which is rare.
var fourClasses = [][]float64{{0.9, -0.4, 0.2, 0}, {-0.7, 0.6, 0.3, 0.2}, {0.1, 0.5, -0.8, 0.1}, {-0.3, -0.7, 0.3, -1.5}}

func classified(n int, seed uint64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 3))
	x, y := mat.NewDense(n, 3, nil), make([]float64, n)
	for i := range n {
		for j := range 3 {
			x.Set(i, j, r.NormFloat64())
		}
		y[i] = classOf(fourClasses, x.RawRowView(i), r)
	}
	return x, y
}

// classOf draws the class of a row by the weights of each class, the intercept last.
func classOf(weights [][]float64, row []float64, r *rand.Rand) (class float64) {
	best := math.Inf(-1)
	for c, w := range weights {
		if z := floats.Dot(w[:len(row)], row) + w[len(row)] - math.Log(-math.Log(r.Float64())); z > best {
			best, class = z, float64(c)
		}
	}
	return class
}

var inBall = dpglm.Bounds{Feature: 5, Intercept: true}

func softmaxOf(t *testing.T, n int, b dpglm.Budget, more ...dpglm.RowDetail) *dpglm.Model {
	t.Helper()
	x, y := classified(n, 1)
	d, err := dpglm.NewDataset(x, y, inBall, more...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, b, dpglm.SoftmaxConfig{}, seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// classLoss is the mean −log p of the labels, and the part that is predicted rightly.
func classLoss(t *testing.T, m *dpglm.Model, x mat.Matrix, y []float64) (loss, right float64) {
	t.Helper()
	p, err := m.Probabilities(x)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range y {
		row := p.RawRowView(i)
		if total := floats.Sum(row); !(math.Abs(total-1) < 1e-12) || float64(floats.MaxIdx(row)) != classes[i] {
			t.Fatalf("row %d has probabilities %v and the class %g", i, row, classes[i])
		}
		loss -= math.Log(row[int(c)]) / float64(len(y))
		if classes[i] == c {
			right += 1 / float64(len(y))
		}
	}
	return loss, right
}

// Where noise can't matter the coefficients' differences between classes are those that the
// classes were made with, within five standard errors or so of 20,000 rows; at ε = 1 the
// log-loss is within a hundredth of the truth's.
func TestSoftmaxEstimates(t *testing.T) {
	m := softmaxOf(t, 20000, dpglm.GDP(300))
	for j := range 4 {
		var got, want []float64
		for c, w := range m.Weights() {
			got, want = append(got, w[j]), append(want, fourClasses[c][j])
		}
		floats.AddConst(-floats.Sum(got)/4, got)
		floats.AddConst(-floats.Sum(want)/4, want)
		if !(floats.Distance(got, want, math.Inf(1)) < 0.1) {
			t.Errorf("coefficient %d: %.3f of the classes, %.3f were true", j, got, want)
		}
	}
	x, y := classified(20000, 5)
	best, _ := classLoss(t, m, x, y)
	private, right := classLoss(t, softmaxOf(t, 20000, dpglm.ApproxDP(1, 1e-6)), x, y)
	if !(private < best+0.01 && right > 0.5) {
		t.Errorf("log-loss %.4f at ε = 1, %.4f without noise to speak of; %.3f right", private, best, right)
	}
	if constant, _ := classLoss(t, softmaxOf(t, 100, dpglm.GDP(0.2)), x, y); !(constant < 1.5) {
		t.Errorf("log-loss %.4f where rows and budget suffice for nothing", constant)
	}
	persons := make([]int, 20000)
	for i := range persons {
		persons[i] = i / 2
	}
	private, _ = classLoss(t, softmaxOf(t, 20000, dpglm.ApproxDP(1, 1e-6), dpglm.Persons{Of: persons, Count: 10000, MaxRows: 2}), x, y)
	if !(private < best+0.02) {
		t.Errorf("log-loss %.4f of persons with two rows", private)
	}
}

// spread are rows of d columns and labels of 4 classes, whose scores have the given spread.
func spread(n, d int, of float64, seed uint64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 4))
	w, x, y := mat.NewDense(4, d, nil), mat.NewDense(n, d, nil), make([]float64, n)
	truth := rand.New(rand.NewPCG(11, 4))
	for c := range 4 {
		for j := range d {
			w.Set(c, j, of*truth.NormFloat64()/math.Sqrt(float64(d)))
		}
	}
	for i := range n {
		for j := range d {
			x.Set(i, j, r.NormFloat64())
		}
		best := math.Inf(-1)
		for c := range 4 {
			if z := floats.Dot(w.RawRowView(c), x.RawRowView(i)) - math.Log(-math.Log(r.Float64())); z > best {
				best, y[i] = z, float64(c)
			}
		}
	}
	return x, y
}

// Whatever the features tell, scores are about as far apart as they should be: the descent's
// own would lose 0.29 of the log-loss to noise, where labels have nothing to do with features, and 0.1
// where these tell nearly all, and the last steps along a line, which find the loss flat, 0.04.
func TestSoftmaxScalesItsScores(t *testing.T) {
	for name, c := range map[string]struct {
		d          int
		of, within float64
		budget     dpglm.Budget
	}{
		"nothing to tell, noise": {100, 0, 0.1, dpglm.ApproxDP(1, 1e-6)},
		"much to tell":           {5, 12, 0.05, dpglm.ApproxDP(4, 1e-6)},
	} {
		x, y := spread(4000, c.d, c.of, 1)
		d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 2 * math.Sqrt(float64(c.d)), Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, c.budget, dpglm.SoftmaxConfig{}, seeded(3))
		if err != nil {
			t.Fatal(err)
		}
		x, y = spread(4000, c.d, c.of, 2)
		scores, err := m.Scores(x)
		if err != nil {
			t.Fatal(err)
		}
		own, best := scaledLoss(scores, y, 1), math.Inf(1)
		for s := 0.0; s < 5; s += 0.05 {
			best = math.Min(best, scaledLoss(scores, y, s))
		}
		if !(own < best+c.within) {
			t.Errorf("%s: log-loss %.4f, and %.4f with scores of another scale", name, own, best)
		}
	}
}

// scaledLoss is the log-loss of scores that are multiplied by a factor.
func scaledLoss(scores *mat.Dense, y []float64, factor float64) (loss float64) {
	row := make([]float64, 4)
	for i, c := range y {
		floats.ScaleTo(row, factor, scores.RawRowView(i))
		loss += (floats.LogSumExp(row) - row[int(c)]) / float64(len(y))
	}
	return loss
}

// Where features tell little the factor is no less right: what models lose against the true one
// is about what sampling costs, (K−1)(d+1)/2n = .0003, and that twice over for noise. If noise in the
// factor grew with the budget they would lose six times as much, on average over four.
func TestSoftmaxOfLittleSignal(t *testing.T) {
	const n = 20_000
	weak := make([][]float64, len(fourClasses))
	for c, w := range fourClasses {
		weak[c] = []float64{0.25 * w[0], 0.25 * w[1], 0.25 * w[2], w[3]}
	}
	for _, mu := range []float64{1, 30} {
		lost := 0.0
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 4))
			x, y := mat.NewDense(n, 3, nil), make([]float64, n)
			for i := range n {
				x.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()})
				y[i] = classOf(weak, x.RawRowView(i), r)
			}
			d, err := dpglm.NewDataset(x, y, inBall)
			if err != nil {
				t.Fatal(err)
			}
			m, err := dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, dpglm.GDP(mu), dpglm.SoftmaxConfig{}, seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Probabilities(x)
			if err != nil {
				t.Fatal(err)
			}
			z := make([]float64, 4)
			for i := range n {
				for c, w := range weak {
					z[c] = floats.Dot(w[:3], x.RawRowView(i)) + w[3]
				}
				total := floats.LogSumExp(z)
				for c := range z {
					lost += math.Exp(z[c]-total) * (z[c] - total - math.Log(p.At(i, c))) / n / 4
				}
			}
		}
		if t.Logf("μ = %g: %.5f lost", mu, lost); lost > 0.0006 {
			t.Errorf("μ = %g: models lose %.5f against the true one", mu, lost)
		}
	}
}

// Rows of a rare level whose class is rare among them aren't cut off, or its coefficient would be 4.4 on
// average. Kept short they say less than noise lets through, and with more budget all: means of eight are
// .3 off by chance in one case of 10,000 there, and means of three .5.
func TestSoftmaxEstimatesRareLevels(t *testing.T) {
	const n = 50_000
	seeds := sample.Of(3, 8)
	mean, rich, truth := 0.0, 0.0, [][]float64{{0.6, 2.5, 0}, {-0.6, 0, 0}, {0, 0, 0}}
	schema := dpglm.Schema{Columns: []string{"a", "rare"}, Numeric: map[string][2]float64{"a": {-3, 3}},
		OneHot: map[string][]string{"group": {"rare"}}, Intercept: true}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 5))
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range n {
			x.Set(i, 0, r.NormFloat64())
			if r.Float64() < 0.005 {
				x.Set(i, 1, 1)
			}
			y[i] = classOf(truth, x.RawRowView(i), r)
		}
		d, err := dpglm.NewDataset(x, y, schema)
		if err != nil {
			t.Fatal(err)
		}
		for mu, sum := range map[float64]*float64{1: &mean, 100: &rich} {
			m, err := dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(mu), dpglm.SoftmaxConfig{}, seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			list := coefficientsOfClasses(t, m)
			*sum += (list[0][1].Value - list[2][1].Value) / float64(seeds)
		}
	}
	if t.Logf("means %.3f, %.3f", mean, rich); !(mean > 0.5 && mean < 3) || math.Abs(rich-2.5) > sample.Of(0.5, 0.3) {
		t.Errorf("the level's coefficient is %.3f on average, and %.3f with much budget, not 2.5", mean, rich)
	}
}

// Where noise decides how far the descent goes, it goes as far as that allows, with a small
// clip: a log-loss of 1.294 here. With steps as long as the curvature allows it is 1.317, with
// the first clip 1.332, with steps a fifth as long 1.325.
func TestSoftmaxStopsForNoise(t *testing.T) {
	x, y := spread(2000, 80, 3, 1)
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 18, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, dpglm.ApproxDP(1, 1e-6), dpglm.SoftmaxConfig{}, seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	x, y = spread(8000, 80, 3, 2)
	loss, right := classLoss(t, m, x, y)
	if !(loss < 1.305) {
		t.Errorf("log-loss %.4f, %.3f right", loss, right)
	}
}

// A stored model predicts as before, and says what it is; nonsense is refused.
func TestClassModelJSON(t *testing.T) {
	m := softmaxOf(t, 500, dpglm.GDP(1))
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back dpglm.Model
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(back.Weights()) != fmt.Sprint(m.Weights()) || back.Classes() != 4 || fmt.Sprint(&back) != fmt.Sprint(m) {
		t.Errorf("%v\n%v", &back, m)
	}
	for _, want := range []string{`"format":"dpglm class model"`, `"version":1`, `"unit":{"of":"row","neighbours":"replace-one"}`, `"mu":1`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for name, change := range map[string][2]string{
		"format": {"dpglm class model", "dpglm model"}, "version": {`"version":1`, `"version":2`}, "field": {`"library"`, `"more":1,"library"`},
		"claim": {`"mu":1`, `"mu":0.5`}, "columns": {`"columns":3`, `"columns":9`},
		"labels": {`"unit"`, `"labels":"binary","unit"`}, "other labels": {`"unit"`, `"labels":"count","unit"`}, "link": {`"unit"`, `"link":"logit","unit"`},
		"loss": {`"unit"`, `"loss":"logistic","unit"`}, "thresholds": {`"unit"`, `"thresholds":[0],"unit"`}, "levels": {`"levels":["0",`, `"levels":["1",`},
		"a level too many": {`"3"]`, `"3","4"]`},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if err := json.Unmarshal(resealed.JSON([]byte(changed)), &back); changed == string(text) || !errors.Is(err, dpglm.ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Numbers of classes that contradict the weights, or are too many, are refused, and leave the model
// that was there.
func TestClassModelsOfOtherNumbers(t *testing.T) {
	m := softmaxOf(t, 500, dpglm.GDP(1))
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back dpglm.Model
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	one := strings.Index(string(text), `"weights":[[`) + len(`"weights":[`)
	end := one + strings.Index(string(text[one:]), "]]") + 1
	first := one + strings.Index(string(text[one:]), "]") + 1
	if err := json.Unmarshal(resealed.JSON([]byte(string(text[:first])+string(text[end:]))), &back); !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("a model of one class: %v", err)
	}
	row := string(text[one:first])
	for name, c := range map[string]struct {
		weights string
		levels  int
	}{"one score": {row, 1}, "no classes": {"", 0}, "no scores": {"[],[],[],[]", 4}, "ragged": {row + ",[1,2,3]," + row + "," + row, 4},
		"three of four": {row + "," + row + "," + row, 4}, "1001 classes": {strings.Repeat(row+",", 1000) + row, 1001}} {
		var names []string
		for k := range c.levels {
			names = append(names, fmt.Sprint(k))
		}
		levels, err := json.Marshal(names)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text[:one])+c.weights+string(text[end:]), `["0","1","2","3"]`, string(levels), 1)
		if err := json.Unmarshal(resealed.JSON([]byte(changed)), &back); !errors.Is(err, dpglm.ErrModel) {
			t.Errorf("weights of %s: %v", name, err)
		}
	}
	if fmt.Sprint(&back) != fmt.Sprint(m) {
		t.Errorf("a refused one changes the model that was there: %v", &back)
	}
}

// What can't be is refused before anything is spent.
func TestSoftmaxRefuses(t *testing.T) {
	x, y := classified(50, 1)
	d, err := dpglm.NewDataset(x, y, inBall)
	if err != nil {
		t.Fatal(err)
	}
	shifted, err := dpglm.NewDataset(x, y, inBall, dpglm.Offsets{Of: make([]float64, 50), Range: [2]float64{-1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		d       *dpglm.Dataset
		b       dpglm.Budget
		classes int
		kind    error
	}{
		"one class":       {d, dpglm.GDP(1), 1, dpglm.ErrConfig},
		"many classes":    {d, dpglm.GDP(1), 1e6, dpglm.ErrConfig},
		"labels beyond":   {d, dpglm.GDP(1), 3, dpglm.ErrLabel},
		"no data":         {nil, dpglm.GDP(1), 4, dpglm.ErrConfig},
		"pure":            {d, dpglm.PureDP(1), 4, dpglm.ErrBudget},
		"offsets":         {shifted, dpglm.GDP(1), 4, dpglm.ErrConfig},
		"no budget":       {d, dpglm.GDP(0), 4, dpglm.ErrBudget},
		"a budget of NaN": {d, dpglm.GDP(math.NaN()), 4, dpglm.ErrBudget},
	} {
		var spent *dpglm.Interrupted
		_, err := dpglm.Softmax(t.Context(), c.d, dpglm.Problem{Loss: losses.Logistic{}, Classes: c.classes}, c.b, dpglm.SoftmaxConfig{}, nil)
		if !errors.Is(err, c.kind) || errors.As(err, &spent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	planned, err := dpglm.SoftmaxConfig{}.Plan(d.Shape(), given.OfClasses(logistic, 4), dpglm.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, dpglm.GDP(1), dpglm.SoftmaxConfig{}, nil)
	if err != nil || fmt.Sprint(m.Ledger()) != fmt.Sprint(planned.Ledger) {
		t.Errorf("planned\n%v\nspent\n%v (%v)", planned.Ledger, m.Ledger(), err)
	}
	if _, err := m.Scores(mat.NewDense(2, 2, nil)); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("other columns: %v", err)
	}
	var none *dpglm.Model
	if _, err := none.Predict(x); !errors.Is(err, dpglm.ErrModel) || none.Classes() != 0 || none.Weights() != nil || none.Ledger() != nil {
		t.Errorf("nil: %v", err)
	}
}

// Two classes are the logistic loss's: where noise can't matter the difference of weights is
// its model's.
func TestSoftmaxOfTwoClasses(t *testing.T) {
	x, y := classified(20000, 1)
	for i, c := range y {
		y[i] = math.Min(c, 1)
	}
	d, err := dpglm.NewDataset(x, y, inBall)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 2}, dpglm.GDP(1000), dpglm.SoftmaxConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := dpglm.StandardisedGD(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(1000), dpglm.StandardisedGDConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	difference := slices.Clone(m.Weights()[1])
	floats.Sub(difference, m.Weights()[0])
	if !(floats.Distance(difference, plain.Weights()[0], math.Inf(1)) < 0.03) {
		t.Errorf("%.4f by two classes, %.4f by the logistic loss", difference, plain.Weights()[0])
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// trained is a model of a made-up table.
func trained(t *testing.T, loss losses.Loss) *dpglm.Model {
	t.Helper()
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	m, err := dpglm.Auto(context.Background(), patients(t), dpglm.Problem{Loss: loss}, dpglm.ApproxDP(4, 1e-5), env)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// patients are 500 made-up rows, of whom the old come back.
func patients(t *testing.T) *dpglm.Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("age,ward,back\n")
	for range 500 {
		age, back := 20+r.IntN(70), "no"
		if age > 60 {
			back = "yes"
		}
		fmt.Fprintf(&b, "%d,%s,%s\n", age, []string{"icu", "surgery", ""}[r.IntN(3)], back)
	}
	schema, err := table.ParseSchema([]byte(`{"version": 1, "label": "back", "columns": [
		{"name": "age", "kind": "numeric", "range": [0, 100]},
		{"name": "ward", "kind": "categorical", "levels": ["surgery", "icu"], "missing": "level"},
		{"name": "back", "kind": "binary", "positive": ["yes"], "negative": ["no"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	read, err := table.ReadCSV(strings.NewReader(b.String()), schema)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ask posts a body to a server of the model.
func ask(t *testing.T, s *httptest.Server, body string) (status int, answer string) {
	t.Helper()
	r, err := http.Post(s.URL+"/predict", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// stored is a server of a model's file.
func stored(t *testing.T, model any) *httptest.Server {
	t.Helper()
	text, err := json.Marshal(model)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return served(t, path)
}

// served is a server of the file at path.
func served(t *testing.T, path string) *httptest.Server {
	t.Helper()
	handler, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// A model that was stored is served: the answers are the library's.
func TestServesAStoredModel(t *testing.T) {
	m := trained(t, losses.Logistic{})
	s := stored(t, m)
	x, err := m.Encode(map[string]string{"age": "81.5", "ward": "icu"}, map[string]string{"age": "30", "ward": ""})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Probabilities(x)
	if err != nil {
		t.Fatal(err)
	}
	check := func(body string, want ...float64) {
		var got struct {
			Label, Kind string
			Predictions []float64
		}
		status, answer := ask(t, s, body)
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusOK || got.Label != "back = yes" || got.Kind != "probability" || fmt.Sprint(got.Predictions) != fmt.Sprint(want) {
			t.Errorf("%s: %d %s, want %v", body, status, answer, want)
		}
	}
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			check(`[{"age": 81.5, "ward": "icu", "name": "Ada"}, {"ward": null, "age": "30"}]`, want...)
			check(`{"age": 81.5, "ward": "icu"}`, want[0])
		}()
	}
	all.Wait()
	r, err := http.Get(s.URL + "/model")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var model struct {
		Columns []string
		Ledger  *dpglm.Ledger
	}
	if err := json.NewDecoder(r.Body).Decode(&model); err != nil || strings.Join(model.Columns, " ") != "age ward" || model.Ledger.String() != m.Ledger().String() {
		t.Errorf("%+v (%v)", model, err)
	}
}

// A model with intervals is served as the model is.
func TestServesAnInference(t *testing.T) {
	found, err := dpglm.Infer(context.Background(), patients(t), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(4, 1e-5), dpglm.InferConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, v := range []any{found, found.Model()} {
		s := stored(t, v)
		status, answer := ask(t, s, `{"age": 81.5, "ward": "icu"}`)
		answers = append(answers, fmt.Sprint(status, answer))
	}
	if answers[0] != answers[1] || !strings.HasPrefix(answers[0], "200") {
		t.Errorf("with intervals %s, without %s", answers[0], answers[1])
	}
}

// A loss without probabilities has classes.
func TestServesClasses(t *testing.T) {
	s := httptest.NewServer(newServer(trained(t, losses.Hinge{})))
	defer s.Close()
	if status, answer := ask(t, s, `{"age": 90, "ward": "icu"}`); status != http.StatusOK || !strings.Contains(answer, `"kind":"class","predictions":[1]`) {
		t.Errorf("%d %s", status, answer)
	}
}

// Rates are for an exposure of 1, whatever a record's own is, and the answers say so.
func TestServesRates(t *testing.T) {
	schema, err := table.ParseSchema([]byte(`{"version": 1, "label": "claims", "exposure": "years", "columns": [
		{"name": "age", "kind": "numeric", "range": [0, 100]}, {"name": "years", "kind": "numeric", "range": [0.1, 1]}, {"name": "claims", "kind": "count", "cap": 5}]}`))
	if err != nil {
		t.Fatal(err)
	}
	read, err := table.ReadCSV(strings.NewReader("age,years,claims\n"+strings.Repeat("30,0.5,0\n70,1,2\n", 200)), schema)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.ApproxDP(4, 1e-5), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(newServer(m))
	defer s.Close()
	_, half := ask(t, s, `{"age": 70, "years": 0.5}`)
	if _, none := ask(t, s, `{"age": 70}`); half != none || !strings.Contains(none, `"kind":"mean","per":"years = 1","predictions":[`) {
		t.Errorf("%s at a half and %s without", half, none)
	}
	r, err := http.Get(s.URL + "/model")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var model struct{ Per string }
	if err := json.NewDecoder(r.Body).Decode(&model); err != nil || model.Per != "years = 1" {
		t.Errorf("%+v (%v)", model, err)
	}
}

// Models of several levels answer with a probability for each, as the library does.
func TestServesLevels(t *testing.T) {
	for _, path := range []string{"../../testdata/classmodel-v1-table.json", "../../testdata/model-v1-ordinal.json"} {
		s := served(t, path)
		var got struct {
			Label, Kind string
			Predictions []dpglm.LevelPrediction
		}
		status, answer := ask(t, s, `[{"age": 95, "ward": "surgery"}, {"ward": "moon base", "age": "21"}]`)
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusOK || got.Label != "outcome" || got.Kind != "levels" || len(got.Predictions) != 2 {
			t.Fatalf("%s: %d %s (%v)", path, status, answer, err)
		}
		for i, p := range got.Predictions {
			sum := 0.0
			for _, v := range p.Probabilities {
				sum += v
			}
			if p.Level != []string{"died", "home"}[i] || len(p.Probabilities) != 4 || !(math.Abs(sum-1) < 1e-9) {
				t.Errorf("%s: record %d has %+v", path, i+1, p)
			}
		}
		if status, answer := ask(t, s, `{"age": "old", "ward": "surgery"}`); status != http.StatusBadRequest || !strings.Contains(answer, `record 1, column \"age\": \"old\" is not a number`) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
		r, err := http.Get(s.URL + "/model")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var model struct{ Levels []string }
		if err := json.NewDecoder(r.Body).Decode(&model); err != nil || strings.Join(model.Levels, ", ") != "home, rehab, long stay, died" {
			t.Errorf("%s: %+v (%v)", path, model, err)
		}
	}
}

// Whoever asks wrongly is told what is wrong.
func TestBadRequests(t *testing.T) {
	s := httptest.NewServer(newServer(trained(t, losses.Logistic{})))
	defer s.Close()
	for _, c := range []struct {
		body, says string
		status     int
	}{
		{`{"age": "old", "ward": "icu"}`, `record 1, column \"age\": \"old\" is not a number`, 400},
		{`[{"age": 1, "ward": "icu"}, {"age": 1, "ward": "sea"}]`, `record 2, column \"ward\"`, 400},
		{`{"ward": "icu"}`, `\"age\" is not in the record`, 400},
		{`{"age": [1], "ward": "icu"}`, `record 1, column \"age\": a field must be`, 400},
		{`[1]`, `such as {\"age\"`, 400}, {`[]`, "at least 1", 400}, {`{"age": 1} {"age": 2}`, "into a list", 400}, {``, "the body is empty: give a record such as", 400}, {`{"age"`, "EOF", 400},
		{`"` + strings.Repeat("x", maxBody) + `"`, "too large", 413},
	} {
		if status, answer := ask(t, s, c.body); status != c.status || !strings.Contains(answer, c.says) {
			t.Errorf("%.40s: %d %s, want %d with %s", c.body, status, answer, c.status, c.says)
		}
	}
	if r, err := http.Get(s.URL + "/predict"); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%v, %v", r, err)
	}
}

// What isn't a model of a table is refused before anyone asks.
func TestModelsThatCantBeServed(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{filepath.Join(dir, "none.json"): "none.json", bad: "format", "../../testdata/model-v1-schema.json": "not trained on a table"} {
		if err := run(context.Background(), path, "localhost:0"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The server stops when it is told to.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run(ctx, "../../testdata/model-v1-table.json", "localhost:0"); err != nil {
		t.Error(err)
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
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
	want, err := m.Means(x)
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

// claims is a model of rates, of the largest count and the largest exposure.
func claims(t *testing.T, most int, largest float64) *dpglm.Model {
	t.Helper()
	schema, err := table.ParseSchema([]byte(`{"version": 1, "label": "claims", "exposure": "years", "columns": [
		{"name": "age", "kind": "numeric", "range": [0, 100]}, {"name": "years", "kind": "numeric", "range": [0.1, ` + fmt.Sprint(largest) + `]}, {"name": "claims", "kind": "count", "cap": ` + fmt.Sprint(most) + `}]}`))
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
	return m
}

// answered is an answer with numbers.
type answered struct {
	Per         string
	Predictions []float64
	Held        map[string][]int `json:"held_to_range"`
}

func numbered(t *testing.T, s *httptest.Server, body string) (a answered) {
	t.Helper()
	status, answer := ask(t, s, body)
	if err := json.Unmarshal([]byte(answer), &a); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s (%v)", body, status, answer, err)
	}
	return a
}

// Means are for each record's own exposure, as those of csvfit predict, and for 1 where it has
// none; the answers say so.
func TestServesRates(t *testing.T) {
	s := httptest.NewServer(newServer(claims(t, 5, 1)))
	defer s.Close()
	const per = "each record's years, or 1 where it has none"
	a := numbered(t, s, `[{"age": 70, "years": 0.5}, {"age": 70}, {"age": 70, "years": 1}]`)
	if p := a.Predictions; len(p) != 3 || math.Abs(2*p[0]/p[1]-1) > 1e-12 || p[1] != p[2] || a.Per != per || a.Held != nil {
		t.Errorf("%+v", a)
	}
	if a := numbered(t, s, `[{"age": 70, "years": 30}, {"age": 70, "years": 1}]`); a.Predictions[0] != a.Predictions[1] || fmt.Sprint(a.Held) != "map[years:[1]]" {
		t.Errorf("an exposure outside of its range: %+v", a)
	}
	if status, answer := ask(t, s, `{"age": 70, "years": null}`); status != http.StatusBadRequest || !strings.Contains(answer, `record 1, column \"years\"`) {
		t.Errorf("an exposure that is missing: %d %s", status, answer)
	}
	r, err := http.Get(s.URL + "/model")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var model struct{ Per string }
	if err := json.NewDecoder(r.Body).Decode(&model); err != nil || model.Per != per {
		t.Errorf("%+v (%v)", model, err)
	}
}

// Means at an exposure are held to the label's range as those of MeansAt are, with the logarithms of exposures for offsets.
func TestRatesAreHeldToTheRange(t *testing.T) {
	m := claims(t, 2, 6)
	s := httptest.NewServer(newServer(m))
	defer s.Close()
	var ages []map[string]string
	var offsets []float64
	var asked []string
	for _, years := range []float64{0.5, 1, 2.5, 6} {
		for _, age := range []string{"30", "70"} {
			ages, offsets = append(ages, map[string]string{"age": age}), append(offsets, math.Log(years))
			asked = append(asked, fmt.Sprintf(`{"age": %s, "years": %v}`, age, years))
		}
	}
	x, err := m.Encode(ages...)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.MeansAt(x, offsets)
	if err != nil {
		t.Fatal(err)
	}
	if want[1] >= 2 || want[7] != 2 {
		t.Fatalf("means are %v: some should be at the end of the range, 2", want)
	}
	if got := numbered(t, s, "["+strings.Join(asked, ",")+"]").Predictions; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("means %v, want %v", got, want)
	}
}

// Numbers outside of a column's range count as its end, and the answer says where.
func TestSaysWhatWasHeldToItsRange(t *testing.T) {
	s := httptest.NewServer(newServer(trained(t, losses.Logistic{})))
	defer s.Close()
	a := numbered(t, s, `[{"age": 1e40, "ward": "icu"}, {"age": 100, "ward": "icu"}, {"age": -5e9, "ward": "icu"}, {"age": 0, "ward": "icu"}]`)
	if p := a.Predictions; p[0] != p[1] || p[2] != p[3] || fmt.Sprint(a.Held) != "map[age:[1 3]]" {
		t.Errorf("%+v", a)
	}
	ends := numbered(t, s, `[{"age": 100, "ward": "icu"}, {"age": 0, "ward": "icu"}]`)
	if ends.Held != nil {
		t.Errorf("the ends of the range: %+v", ends)
	}
	levels := served(t, "../../testdata/model-v1-ordinal.json")
	if status, answer := ask(t, levels, `[{"age": 95, "ward": "surgery"}, {"age": 950, "ward": "surgery"}]`); status != http.StatusOK || !strings.Contains(answer, `"held_to_range":{"age":[2]}`) {
		t.Errorf("levels: %d %s", status, answer)
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
		{`[1]`, `such as {\"age\"`, 400}, {`[]`, "at least 1", 400}, {`{"age": 1, "ward": "icu"} {"age": 2}`, "into a list", 400}, {``, "the body is empty: give a record such as", 400}, {`{"age"`, "the body ends before its JSON does: give a record", 400}, {`{`, "the body ends before its JSON does", 400},
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

// slow is a body that has begun, and goes on when it is told to.
type slow struct {
	begun chan<- struct{}
	rest  <-chan struct{}
	text  io.Reader
}

func (b *slow) Read(p []byte) (int, error) {
	if b.begun != nil {
		b.begun <- struct{}{}
		b.begun = nil
		<-b.rest
	}
	return b.text.Read(p)
}

// Of 256 requests at the same time so many are at work as may be; all others are told to come
// again, and can when those have ended.
func TestRequestsAtATime(t *testing.T) {
	h := newServer(trained(t, losses.Logistic{}))
	begun, rest := make(chan struct{}), make(chan struct{})
	post := func(body io.Reader) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/predict", body))
		return w
	}
	statuses := make(chan int)
	for range maxAtWork {
		go func() { statuses <- post(&slow{begun, rest, strings.NewReader(`{"age": 50, "ward": "icu"}`)}).Code }()
		<-begun
	}
	for range 256 - maxAtWork {
		w := post(strings.NewReader(`{"age": 50, "ward": "icu"}`))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
			t.Fatalf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
	}
	close(rest)
	for range maxAtWork {
		if status := <-statuses; status != http.StatusOK {
			t.Errorf("a request at work: %d", status)
		}
	}
	if w := post(strings.NewReader(`{"age": 50, "ward": "icu"}`)); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// weighed is a request's body, and where its answer goes. It takes the heap's weight, without what
// is no longer used, whenever so much more was read, and when the answer is written.
type weighed struct {
	http.ResponseWriter
	text io.Reader
	left int
	most uint64
}

func (b *weighed) weigh() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.most = max(b.most, m.HeapAlloc)
}

func (b *weighed) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if b.left -= n; b.left < 0 || err != nil {
		b.left = maxBody / 5
		b.weigh()
	}
	return n, err
}

func (b *weighed) Write(p []byte) (int, error) {
	b.weigh()
	return b.ResponseWriter.Write(p)
}

// What a request of 1 MB holds, at any time, is less than half of its part of 200 MB: as much
// again may wait to be collected.
func TestRequestsAreSmall(t *testing.T) {
	levels, err := os.ReadFile("../../testdata/model-v1-ordinal.json")
	if err != nil {
		t.Fatal(err)
	}
	graded := new(dpglm.Model)
	if err := json.Unmarshal(levels, graded); err != nil {
		t.Fatal(err)
	}
	long := `{"age": 50, "ward": "surgery", "notes": "` + strings.Repeat("x", maxBody-100) + `"}`
	for name, c := range map[string]struct {
		m      *dpglm.Model
		body   string
		status int
	}{
		"records":            {trained(t, losses.Logistic{}), "[" + strings.Repeat(`{"age":50,"ward":"icu"},`, maxBody/24-1) + `{"age":50,"ward":"icu"}]`, 200},
		"outside the range":  {trained(t, losses.Logistic{}), "[" + strings.Repeat(`{"age":500,"ward":"icu"},`, maxBody/25-1) + `{"age":50,"ward":"icu"}]`, 200},
		"one long text":      {trained(t, losses.Logistic{}), long, 200},
		"records of levels":  {graded, "[" + strings.Repeat(`{"age":50,"ward":"surgery"},`, 4000) + `{"age":50,"ward":"surgery"}]`, 200},
		"many more of these": {graded, "[" + strings.Repeat(`{"age":50,"ward":"surgery"},`, maxBody/28-1) + `{"age":50,"ward":"surgery"}]`, 413},
		"fields only":        {graded, "{" + strings.Repeat(`"a":1,`, maxBody/7) + `"age":50,"ward":"surgery"}`, 200},
	} {
		h, w := newServer(c.m), httptest.NewRecorder()
		b := &weighed{ResponseWriter: w, text: strings.NewReader(c.body), left: maxBody / 5}
		b.weigh()
		before := b.most
		h.ServeHTTP(b, httptest.NewRequest("POST", "/predict", b))
		if w.Code != c.status || len(c.body) > maxBody {
			t.Errorf("%s: %d %.80s", name, w.Code, w.Body)
		}
		if held := b.most - before; held > 100<<20/maxAtWork {
			t.Errorf("%s: %d MB held", name, held>>20)
		} else {
			t.Logf("%s: %.1f MB held", name, float64(held)/(1<<20))
		}
	}
}

// Requests at work end before the server does.
func TestStopsGracefully(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, rest, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	at := newServer(trained(t, losses.Logistic{}))
	go func() {
		ended <- serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-rest
			at.ServeHTTP(w, r)
		}))
	}()
	status := make(chan int, 1)
	go func() {
		r, err := http.Post("http://"+listener.Addr().String()+"/predict", "application/json", strings.NewReader(`{"age": 50, "ward": "icu"}`))
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		r.Body.Close()
		status <- r.StatusCode
	}()
	<-begun
	cancel()
	for { // no more are let in
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break
		}
		c.Close()
	}
	select {
	case err := <-ended:
		t.Fatalf("ended before its request: %v", err)
	default:
	}
	close(rest)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the request at work: %d", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// A plan forecasts, at the ε that was given and around it, and finds the ε that buys what
// is asked for, by the text as by JSON.
func TestPlansForecast(t *testing.T) {
	_, facts := visitsOn(t)
	common := []string{"plan", "-schema", facts, "-rows", "3000", "-mean", "0.4"}
	with := func(more ...string) string {
		out, said := csvfit(t, append(append([]string{}, common...), more...)...)
		if said != "" {
			t.Errorf("%v says %q", more, said)
		}
		return out
	}
	text := with("-epsilon", "1", "-expect", "-method", "infer")
	if !strings.Contains(text, "by made-up rows") || !strings.Contains(text, "width ratio") || !strings.Contains(text, "together") {
		t.Error(text)
	}
	type forecast struct {
		Label float64 `json:"label_mean"`
		At    []struct {
			Epsilon float64
			Lost    float64  `json:"gain_lost"`
			Width   *float64 `json:"width_ratio"`
		}
	}
	var planned struct {
		Epsilon  float64
		Forecast *forecast
	}
	decode := func(text string, v any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatal(err)
		}
	}
	decode(with("-epsilon", "1", "-expect", "-json"), &planned)
	if f := planned.Forecast; f == nil || len(f.At) != 7 || f.At[0].Epsilon != 0.125 || f.At[3].Epsilon != 1 || f.At[6].Epsilon != 8 || !(f.At[0].Lost > f.At[6].Lost) || f.Label != 0.4 || f.At[3].Width != nil {
		t.Errorf("%+v", planned.Forecast)
	}
	planned.Forecast = nil
	plain, _ := csvfit(t, "plan", "-schema", facts, "-rows", "3000", "-epsilon", "1", "-json")
	if decode(plain, &planned); planned.Forecast != nil {
		t.Error("a forecast that nobody asked for")
	}
	var found struct {
		Epsilon, Delta float64
		Method         string
		Forecast       forecast
	}
	decode(with("-width", "2", "-json"), &found)
	met := false
	for _, e := range found.Forecast.At {
		met = met || e.Epsilon == found.Epsilon && e.Width != nil && *e.Width <= 2
	}
	if !met || found.Method != "infer" || found.Delta == 0 {
		t.Errorf("%+v", found)
	}
	if text := with("-lost", "0.05"); !strings.HasPrefix(text, "-epsilon ") || !strings.Contains(text, "-method auto") {
		t.Error(text)
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
	"github.com/dpglm/dpglm/prio"
)

// TestMain is the example where the example has started the test.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		main()
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

var ctx = context.Background()

const (
	columns, steps = 3, 6
)

var setup = prio.Setup{Rows: []int{200, 150, 50}, Bits: 64, Numbers: numbers(columns)}

// The example trains the same model with programs as without, and says so.
func TestExample(t *testing.T) {
	for learner, steps := range map[string]int{"noisy gradient descent": steps, "Auto": 0} {
		var out bytes.Buffer
		if err := demonstrate(ctx, &out, setup, columns, steps); err != nil {
			t.Fatal(learner, err, "\n", out.String())
		}
		if !strings.Contains(out.String(), "all weights are the same to the last bit") {
			t.Error(learner, out.String())
		}
	}
}

// entries are those of a party's budget.
func entries(t *testing.T, dir, name string) []budgetfile.Entry {
	t.Helper()
	f, err := budgetfile.Open(filepath.Join(dir, name+".budget.json"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Any program may be killed in the middle of a fit: once it is back, at the same address, the fit goes on
// to the same weights, and no party has spent more than one plan. A further fit is refused by the parties'
// budgets, before anything is spent, also after they were started again.
func TestKills(t *testing.T) {
	dir := t.TempDir()
	f, err := start(ctx, dir, setup, columns)
	if err != nil {
		t.Fatal(err)
	}
	defer f.stop()
	names := []string{prio.PartyName(2), prio.LeaderName, prio.PartyName(1), prio.HelperName}
	kill := func(name string) {
		p := f.programs[name]
		p.Process.Kill()
		p.Wait()
	}
	restart := func(name string) {
		if err := f.run(name, strings.TrimPrefix(f.programs[name].url, "https://")); err != nil {
			t.Error(name, err)
		}
	}
	rounds, failed := 0, 0
	back := make(chan bool, 1)
	back <- true
	f.driver.Observe = func(r prio.Round) {
		if r.Failure != nil {
			failed++
			return
		}
		if rounds++; rounds <= len(names) {
			<-back
			name := names[rounds-1]
			kill(name)
			go func() {
				time.Sleep(50 * time.Millisecond) // for a round to fail meanwhile, which isn't asserted
				restart(name)
				back <- true
			}()
		}
	}
	got, err := fit(ctx, f.driver, setup, columns, steps)
	if err != nil {
		t.Fatal(err)
	}
	<-back
	want, err := together(ctx, dir, setup, columns, steps)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || rounds != steps+1 {
		t.Errorf("%d rounds and %d that failed: %v, want %v", rounds, failed, got, want)
	}
	t.Logf("%d rounds failed", failed)
	for k := range setup.Rows {
		if list := entries(t, dir, prio.PartyName(k+1)); len(list) != 1 || list[0].Begun.IsZero() {
			t.Errorf("%s has spent %d plans", prio.PartyName(k+1), len(list))
		}
	}
	for _, again := range []bool{false, true} {
		if again {
			kill(prio.PartyName(1))
			restart(prio.PartyName(1))
		}
		_, err := fit(ctx, f.driver, setup, columns, steps)
		var interrupted *dpglm.Interrupted
		if !errors.Is(err, dpglm.ErrSpent) || errors.As(err, &interrupted) {
			t.Errorf("another fit: %v", err)
		}
	}
}

// A party that is down from the start ends a fit before any party has counted its plan; one that is lost in between
// ends it by an error that says what was spent.
func TestPartyStaysAway(t *testing.T) {
	for name, rounds := range map[string]int{"from the start": 0, "in between": 3} {
		dir := t.TempDir()
		f, err := start(ctx, dir, setup, columns)
		if err != nil {
			t.Fatal(err)
		}
		defer f.stop()
		f.driver.Patience = 0
		kill := func() {
			p := f.programs[prio.PartyName(3)]
			p.Process.Kill()
			p.Wait()
		}
		if rounds == 0 {
			kill()
		}
		made := 0
		f.driver.Observe = func(prio.Round) {
			if made++; made == rounds {
				kill()
			}
		}
		_, err = fit(ctx, f.driver, setup, columns, steps)
		var interrupted *dpglm.Interrupted
		if err == nil || errors.As(err, &interrupted) != (rounds > 0) || !strings.Contains(err.Error(), "party-3") {
			t.Errorf("%s: %v", name, err)
		}
		if interrupted != nil && interrupted.Made != rounds-1 { // after the plan
			t.Errorf("%s: %d releases were made", name, interrupted.Made)
		}
		if list := entries(t, dir, prio.PartyName(1)); len(list) > 0 != (rounds > 0) {
			t.Errorf("%s: %d plans were counted", name, len(list))
		}
	}
}

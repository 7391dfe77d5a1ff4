package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dpglm/dpglm/examples/internal/page"
	"github.com/dpglm/dpglm/internal/digits"
	"github.com/dpglm/dpglm/table"
)

// What a page says of when it was made, and by what. Tests set both.
var (
	now   = time.Now
	built = debug.ReadBuildInfo
)

// commandSum is the SHA-256 of a command, each of its words on a line of its own. -resume isn't in it,
// so that a fit that was interrupted says what it would have said.
func commandSum(words ...string) string {
	hash := sha256.New()
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if name == "resume" && strings.HasPrefix(words[i], "-") {
			if !joined {
				i++
			}
			continue
		}
		fmt.Fprintln(hash, words[i])
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// fileSum is the SHA-256 of a small file.
func fileSum(path string) (string, error) {
	text, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// originOf says what a page is from, before anything is charged.
func (r *report) originOf() (page.Origin, error) {
	o := page.Origin{Date: day(now()), Command: commandSum(append([]string{"fit"}, r.args...)...), Choices: r.choices(), Looked: r.source.HeldOut > 0, Warnings: r.warnings}
	o.Built(built())
	var err error
	o.Schema, err = fileSum(r.source.Schema)
	return o, err
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// choices are the parameters, and where the value of each is from.
func (r *report) choices() []page.Choice {
	by := func(flag, otherwise string) string {
		if r.given[flag] {
			return "the curator, by the flag " + flag
		}
		return otherwise
	}
	forecast := "the curator; whether a plan or a forecast was asked before isn’t known here"
	if r.foreseen != nil {
		forecast = "the curator, before the forecast on this page, which used no data"
	}
	list := []page.Choice{
		{Name: "ε", Value: digits.RoundedUp(r.epsilon), By: forecast},
		{Name: "δ", Value: digits.RoundedUp(r.delta), By: by("delta", "the default, by how many "+units(r.shape)+" there are, which is public")},
		{Name: "protected together", Value: fmt.Sprint(r.group), By: by("group", "the default")},
		{Name: "method", Value: r.method, By: by("method", "the default, for any data")},
		{Name: "loss", Value: r.lossName(r.source), By: by("loss", "the default, by the kind of the label in the schema")},
		{Name: "ranges, levels, thresholds", Value: "see “Data and settings”", By: rangesBy(r.source.Facts())},
	}
	if r.radius > 0 {
		list = append(list, page.Choice{Name: "radius", Value: fmt.Sprintf("%.4g", r.radius), By: by("radius", "the library, by public numbers")})
	}
	if r.evaluated > 0 {
		list = append(list, page.Choice{Name: "share to evaluate on", Value: fmt.Sprint(r.evaluated), By: by("evaluate", "")},
			page.Choice{Name: "seed of the split", Value: fmt.Sprint(r.seed), By: by("seed", "the default")})
	}
	if r.beginning != "" {
		list = append(list, page.Choice{Name: "beginning", Value: r.beginning, By: "the curator, by the flag public or prior"})
	}
	return append(list, page.Choice{Name: "steps, clips, shares of the budget", Value: "see “What was released”", By: "the library, by public and by released numbers"})
}

// account says what was left of the budget once the fit was charged, whatever was charged since, and
// dates the page by that.
func (r *report) account() error {
	if r.charge == nil {
		return nil
	}
	entries, left, err := leftAfter(r.charge.budget, r.charge.id)
	if err != nil {
		return err
	}
	total, err := r.charge.budget.Total()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.ID == r.charge.id {
			r.origin.Date = day(e.Time)
		}
	}
	r.origin.Account = &page.Account{Total: totalOf(total), Left: left.String(), Entry: r.charge.id}
	return nil
}

// rangesBy says where ranges and levels come from.
func rangesBy(s *table.Schema) string {
	if s != nil && s.Observed() {
		return "the schema, which took those marked as observed from the rows, of which all but the label is public"
	}
	return "the schema, which the curator states from public knowledge"
}

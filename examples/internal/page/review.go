package page

import (
	"fmt"

	"github.com/dpglm/dpglm/mechanisms"
)

// Review is what a reviewer asks of a release beside its figures. Nothing in it depends on a row but
// what was released.
type Review struct {
	Protects string `json:"protects"` // the unit and the neighbours
	Data     string `json:"data"`
	Origin
	Marks  []string `json:"marks"` // what is withheld or doubtful; nil where nothing is
	Trust  []Point  `json:"trust"`
	Checks []Check  `json:"checks"`
}

// Point is a part of the threat model.
type Point struct {
	Name string `json:"name"`
	Says string `json:"says"`
}

// By is who meets a check.
type By string

const (
	ByLibrary By = "the library"
	ByCurator By = "the curator" // must see to it; no program can
	ByNobody  By = "not met"
)

// Check is a topic of NIST SP 800-226, and whether it is met.
type Check struct {
	Name string `json:"name"`
	By   By     `json:"met_by"`
	Says string `json:"says"`
}

// Review is what a page of the content says beside figures.
func (c Content) Review() Review {
	return Review{Protects: Protects(c.Ledger), Data: c.Data, Origin: c.Origin, Marks: c.marks(), Trust: c.trust(), Checks: c.checks()}
}

// Protects names what a ledger protects: its unit, how many together, and the neighbours.
func Protects(l *mechanisms.Ledger) string {
	if claim, _ := l.Claim(); claim.Group > 1 {
		return fmt.Sprintf("%v, and any %s together", l.Unit(), grouped(claim.Group))
	}
	return l.Unit().String()
}

// trust is the threat model.
func (c Content) trust() []Point {
	known := "every row but one"
	switch {
	case persons(c.Ledger):
		known = "all rows of every person but one"
	case c.Ledger.Unit().Of == mechanisms.Label:
		known = "all features, and every label but one"
	}
	random := "drawn by integers from a generator (ChaCha8) that the operating system keys"
	if c.Ledger.CallerNoise() {
		random = "drawn from a seed that the curator chose: whoever learns it undoes the noise"
	}
	return []Point{
		{"trusted", "The curator, who holds the rows, runs the program and sees its errors, its running time and whatever it prints for the curator alone. So is the machine, with its memory and files."},
		{"not trusted", "Whoever reads this page or the model, now or later, alone or together: they may know the program, all settings, the seeds of splits, and " + known + "."},
		{"timing", "Not hidden: the guarantee is about what is released, and running time, memory and traffic may depend on the rows. Nobody but the curator may watch the fit; what it took isn’t on this page."},
		{"floating point", "Covered: what is released is rounded to a grid that follows from public numbers, and the rounding of sums counts in each sensitivity, so that the guarantee is about the numbers as they were computed."},
		{"randomness", "Noise is exact, " + random + "."},
		{"other releases", "Not covered: whatever else was made of the same rows has a guarantee of its own, and all of them add up."},
	}
}

// checks go through the topics of NIST SP 800-226 (March 2025), in words of our own.
func (c Content) checks() []Check {
	claim, _ := c.Ledger.Claim()
	delta := Check{"δ", ByCurator, "δ is below one in the number of " + unitsOf(c.Ledger) + ", so that no mechanism could publish a whole one at random; whether it is small enough is for the curator to say."}
	if claim.Delta*float64(claim.Rows) >= 1 {
		delta.By, delta.Says = ByNobody, "δ isn’t below one in the number of "+unitsOf(c.Ledger)+": publishing a few of them at random would keep such a promise."
	}
	from := "that they come from public knowledge and not from these rows"
	if e := c.Model.Encoder(); e != nil && e.Schema().Observed() {
		from = "some come from these rows, and that all but their label is public"
	}
	list := []Check{
		{"ε", ByCurator, "What the releases come to is recomputed from their list, and no more than was asked for; whether that is little enough is a question of what harm could follow, which no program answers."},
		delta,
		c.unit(),
		c.neighbours(),
		{"trust model", ByCurator, "Central: whoever holds the rows sees them all, and must be allowed to; nothing is hidden from the curator."},
		{"sensitivity", ByLibrary, "Each value that gets noise brings a bound on how far what is protected can move it, proved for all inputs, and rows are held to the bounds that it rests on."},
		{"bounds for clipping", ByCurator, "Ranges, thresholds and the bound on rows are enforced; " + from + " is for the curator to say."},
		{"groups and levels", ByCurator, "Levels are those that the schema lists, whoever occurs: which ones there are tells nothing, if the list is public knowledge, or if who is there is."},
		c.composition(),
		{"mechanisms", ByLibrary, "Noise is drawn by mechanisms whose curves are tested against exact probabilities and attacked by audits; the ledger on this page can be recomputed by whoever has the page."},
		{"floating point", ByLibrary, "Values lie on a public grid, noise is drawn in integers, and rounding is part of each sensitivity."},
		{"randomness", ByLibrary, "Noise comes from a generator that the operating system keys."},
		{"side channels", ByCurator, "Running time, memory and messages aren’t hidden: the fit must run where nobody but the curator can watch, and its messages must stay there."},
		{"choices by the program", ByLibrary, "Steps, clips and shares of the budget follow from public numbers, or from values that were released before and are paid for."},
		{"choices by the analyst", ByCurator, "That method, columns and ε weren’t chosen by trying others on the same rows can’t be seen from one fit."},
		{"preparation of the data", ByCurator, "What happened to the rows before, as filling gaps by means or dropping outliers, isn’t covered if it looked at other rows."},
		{"query model", ByLibrary, "One release, fixed before the data were looked at; nobody asks further questions, and predictions cost nothing more."},
		c.utility(),
		{"bias", ByNobody, "Noise and bounds weigh more on those who are few: how errors differ between groups of people isn’t measured here."},
		{"access control", ByCurator, "Who may read the rows, the budget’s file and what lies beside it is up to the system that keeps them."},
		{"data collection", ByCurator, "The guarantee begins where the rows are: how they were collected, kept and passed on is outside of it, as is a leak of them."},
	}
	for i := range list {
		switch {
		case list[i].Name == "randomness" && c.Ledger.CallerNoise():
			list[i].By, list[i].Says = ByNobody, "The noise came from a seed: it protects against nobody who knows that."
		case list[i].Name == "choices by the analyst" && c.Origin.Looked:
			list[i].By, list[i].Says = ByNobody, "Scores without noise on rows held out were shown to the curator: a choice that was made by them, this fit’s release included, isn’t covered."
		}
	}
	return list
}

func (c Content) unit() Check {
	check := Check{"unit of privacy", ByCurator, "One row: that nobody has several, or how many at most, is for the curator to know."}
	switch {
	case persons(c.Ledger):
		check.By, check.Says = ByLibrary, "One person with all rows: how many of each count is bounded while they are read, and the curator sees to it that a person has one id."
	case c.Ledger.Unit().Of == mechanisms.Label:
		check.Says = "One row’s label and nothing else: that being in the table, and all features, may be public is for the curator to know."
	}
	return check
}

func (c Content) neighbours() Check {
	check := Check{"bounded or not", ByLibrary, "Replace-one (bounded): data sets of the same size that differ in one; the size is public."}
	if secret(c.Ledger) {
		check.Says = "Add/remove (unbounded): one is there or not, and the size is secret. That is the weaker promise at the same ε."
	}
	return check
}

func (c Content) composition() Check {
	check := Check{"composition", ByCurator, "All releases of this fit are added up; that others of the same data are counted with it is for the curator to see to, as there is no budget’s file."}
	if c.Origin.Account != nil {
		check.By, check.Says = ByLibrary, "The fit was charged, before any noise, to a file with a total for these data, which refuses what would exceed it; the curator sees to it that every release is charged there."
	}
	return check
}

func (c Content) utility() Check {
	if c.Inference == nil && c.Classes == nil && c.Evaluation == nil {
		return Check{"accuracy", ByNobody, "Neither intervals nor figures on rows held out were released: how far noise moved the model isn’t known."}
	}
	return Check{"accuracy", ByLibrary, "Intervals include the noise as well as sampling, and cost nothing beyond ε and δ."}
}

// Pair writes ε, of the ledger’s releases, and δ as they stand on the page.
func Pair(l *mechanisms.Ledger) (epsilon, delta string, err error) {
	claim, _ := l.Claim()
	e, err := l.Epsilon(claim.Delta)
	return atMost(e, 3), atMost(claim.Delta, 3), err
}

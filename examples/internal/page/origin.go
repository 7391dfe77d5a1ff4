package page

import (
	"runtime/debug"

	"github.com/dpglm/dpglm"
)

// Origin says what a page was made by, and of what. Words that may hint at the rows, as names of
// files do, are in it as hashes only.
type Origin struct {
	Date    string   `json:"date"`    // YYYY-MM-DD
	Library string   `json:"library"` // the version of dpglm
	Program string   `json:"program"` // the module's version, as it was built
	Commit  string   `json:"commit"`  // of the source, with "changed" where it was
	Schema  string   `json:"schema_sha256"`
	Command string   `json:"command_sha256"`
	Account *Account `json:"budget,omitempty"` // nil where there was no budget's file
	Choices []Choice `json:"choices"`
	// Looked says that the curator had figures without noise of the same data, by which choices may have been made.
	Looked bool `json:"curator_saw_figures_without_noise"`
	// Warnings are those of the plan, which follow from public numbers.
	Warnings []string `json:"-"`
}

// Account is what a budget's file said when the fit had been charged to it.
type Account struct {
	Total string `json:"total"`
	Left  string `json:"left"` // after this fit
	Entry string `json:"entry"`
}

// Choice is a parameter, and where its value is from.
type Choice struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	By    string `json:"by"`
}

const unknown = "unknown"

// Built sets the versions and the commit by what the program knows of how it was built.
func (o *Origin) Built(info *debug.BuildInfo, known bool) {
	o.Library, o.Program, o.Commit = dpglm.Version, unknown, unknown
	if !known {
		return
	}
	if info.Main.Version != "" {
		o.Program = info.Main.Version
	}
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			o.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed"
		}
	}
	o.Commit += changed
}

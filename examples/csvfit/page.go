package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/page"
)

// content is what the page for reviewers, the entry of a registry and the review are made of. It has
// what was released and what is public, and nothing else: no scores by -test, times or warnings about
// the data. A forecast is of made-up rows.
func (r *report) content() page.Content {
	return page.Content{
		Data:       dataName(r.source.Path),
		Method:     r.method,
		Begins:     r.beginning,
		Radius:     r.radius,
		Shape:      r.shape,
		Model:      r.model,
		Inference:  r.inference.one,
		Classes:    r.inference.classes,
		Evaluation: r.evaluation,
		Forecast:   r.foreseen,
		Ledger:     r.ledger,
		Origin:     r.origin,
	}
}

// dataName is what the data are called as given: names without directories, of all files.
func dataName(path string) string {
	names := strings.Split(path, ",")
	if _, err := os.Stat(path); err == nil { // whose name has commas
		names = []string{path}
	}
	for k, name := range names {
		names[k] = filepath.Base(strings.TrimSpace(name))
	}
	return strings.Join(names, ", ")
}

// keepPage writes the page for reviewers.
func (r *report) keepPage(f *file) error {
	if f == nil {
		return nil
	}
	if err := page.Write(f, r.content()); err != nil {
		return err
	}
	return f.keep()
}

// keepEntry writes the entry of a registry.
func (r *report) keepEntry(f *file) error {
	if f == nil {
		return nil
	}
	if err := page.WriteEntry(f, r.content()); err != nil {
		return err
	}
	return f.keep()
}

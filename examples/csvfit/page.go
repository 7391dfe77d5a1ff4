package main

import (
	"path/filepath"

	"github.com/dpglm/dpglm/examples/internal/page"
)

// keepPage writes the page for reviewers. It is given what was released and what is
// public, and nothing else: no scores by -test, times or warnings about the data. A forecast
// is of made-up rows.
func (r *report) keepPage(f *file) error {
	if f == nil {
		return nil
	}
	err := page.Write(f, page.Content{
		Data:       filepath.Base(r.source.Path),
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
	})
	if err != nil {
		return err
	}
	return f.keep()
}

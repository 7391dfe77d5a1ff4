package table

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// What is missing, or was not made by its constructor, is refused where it would be read.
func TestZeroValues(t *testing.T) {
	schema := Schema{Version: 1, Label: "y", Columns: []Column{{Name: "a", Kind: Numeric, Range: []float64{0, 1}}, {Name: "y", Kind: Numeric, Range: []float64{0, 1}}}}
	if err := schema.Validate(); err != nil {
		t.Fatal(err)
	}
	var none context.Context
	ctx := context.Background()
	for name, src := range map[string]Source{"nil": nil, "nil CSV": (*CSV)(nil), "nil SQL": (*SQL)(nil),
		"nil within a context": WithContext(ctx, nil), "without a context": WithContext(none, &CSV{})} {
		if _, err := Read(src, schema); !errors.Is(err, check.ErrConfig) {
			t.Errorf("Read, %s: %v", name, err)
		}
		if _, err := ReadFeatures(src, schema); !errors.Is(err, check.ErrConfig) {
			t.Errorf("ReadFeatures, %s: %v", name, err)
		}
		if name == "without a context" {
			continue // it gets one
		}
		if _, err := Write(ctx, filepath.Join(t.TempDir(), "rows"), src, schema); !errors.Is(err, check.ErrConfig) {
			t.Errorf("Write, %s: %v", name, err)
		}
	}
	if err := new(CSV).Close(); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]func() error{
		"NewCSV":   func() error { _, err := NewCSV(nil, ','); return err },
		"ReadCSV":  func() error { _, err := ReadCSV(nil, schema); return err },
		"CSV":      func() error { _, err := new(CSV).Next(); return err },
		"SQL":      func() error { _, err := new(SQL).Next(); return err },
		"Binding":  func() error { return new(Binding).Encode(nil, nil) },
		"exposure": func() error { _, err := new(Binding).Exposure(nil); return err },
	} {
		if err := f(); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w := new(Binding).Warnings(); w != nil {
		t.Errorf("warnings of nothing: %v", w)
	}
	if l := new(Encoder).Label(); l.Column != "" {
		t.Errorf("label of nothing: %v", l)
	}
	if err := (Raw{}).Encode(nil, map[string]string{"a": "1"}); err != nil {
		t.Errorf("no columns: %v", err)
	}
	if _, err := (Raw{}).Bind([]string{"a"}); err != nil {
		t.Errorf("no columns: %v", err)
	}
}

// A record that is shorter than its header has no exposure to read.
func TestExposureOfShortRecords(t *testing.T) {
	e, err := NewEncoder(Schema{Version: 1, Label: "n", Exposure: "years", Columns: []Column{{Name: "n", Kind: Count, Cap: 9}, {Name: "a", Kind: Numeric, Range: []float64{0, 1}}, {Name: "years", Kind: Numeric, Range: []float64{0.1, 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Bind([]string{"a", "years"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Exposure([]string{"0.5"}); !errors.Is(err, ErrFile) {
		t.Errorf("a record without it: %v", err)
	}
	if x, err := b.Exposure([]string{"0.5", "0.25"}); x != 0.25 || err != nil {
		t.Errorf("exposure %g, %v", x, err)
	}
}

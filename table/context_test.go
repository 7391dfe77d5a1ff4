package table

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stopping is a source that cancels a context after so many records.
type stopping struct {
	Source
	after int
	stop  context.CancelFunc
}

func (s *stopping) Next() ([]string, error) {
	if s.after--; s.after == 0 {
		s.stop()
	}
	return s.Source.Next()
}

// A cancelled source ends a table's reading, and the writing of a file, of which nothing is left.
func TestWithContext(t *testing.T) {
	schema := Schema{Version: Version, Columns: []Column{{Name: "x", Kind: Numeric, Range: []float64{0, 1}}, {Name: "y", Kind: Count, Cap: 3}}, Label: "y"}
	text := "x,y\n" + strings.Repeat("0.5,2\n", 5000)
	source := func(after int, stop context.CancelFunc) Source {
		c, err := NewCSV(strings.NewReader(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return &stopping{c, after, stop}
	}
	whole, err := Read(WithContext(context.Background(), source(0, nil)), schema)
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := whole.Dims(); rows != 5000 {
		t.Fatalf("%d rows", rows)
	}
	dir := t.TempDir()
	for _, after := range []int{1, 4000} {
		ctx, stop := context.WithCancel(context.Background())
		if _, err := Read(WithContext(ctx, source(after, stop)), schema); !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
		ctx, stop = context.WithCancel(context.Background())
		if _, err := Write(ctx, filepath.Join(dir, "x.rows"), source(after, stop), schema); !errors.Is(err, context.Canceled) {
			t.Errorf("written: %v", err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

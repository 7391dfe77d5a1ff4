package task

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/tabular"
)

// A schema file is refused, or it describes every column that it makes of the
// file, so that the library accepts both or says what is wrong.
func FuzzSchema(f *testing.F) {
	shipped, err := os.ReadFile("../../csvfit/cps1988.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shipped, []byte("wage,education,experience,ethnicity,smsa,region,parttime\n300,12,3,cauc,no,west,yes\n"))
	for _, s := range []string{
		`{"label":"y","numeric":{"a":[0,1]}}`,
		`{"label":"y","label_bound":2,"numeric":{"a":[0,1]},"categorical":{"c":["u","v"]},"onehot_prefixes":["z="]}`,
		`{"label":"y","label_range":[-1,2.5],"numeric":{"a":[0,1]}}`,
		`{"label":"c","positive":"u","numeric":{"a":[-1e60,1e60],"y":[1,2]}}`,
		`{"label":"y","threshold":0.5,"onehot_prefixes":["z","z=","a"]}`,
		`{"label":"y","numeric":{"c":[0,0]},"categorical":{"a":[]}}`,
		`{"label":"y"}{}`, `{}`, `null`, `[]`,
	} {
		f.Add([]byte(s), []byte("a,c,z=1,z=2,y\n0.5,u,1,0,1\n-3,v,0,1,0\n"))
	}
	path := filepath.Join(f.TempDir(), "schema.json")
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		table, err := tabular.ReadCSV(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := os.WriteFile(path, schema, 0o600); err != nil {
			t.Fatal(err)
		}
		source := &Source{Schema: path, heldOut: 0.5, stderr: io.Discard}
		s, err := source.withSchema(table)
		if err != nil {
			return
		}
		s.source = source
		x, err := s.rows.matrix()
		if err != nil {
			t.Fatal(err)
		}
		n, d := x.Dims()
		if n != len(s.labels) || d != len(s.facts.(dpglm.Schema).Columns) {
			t.Fatalf("%d labels, %d described columns for a matrix of %d×%d", len(s.labels), len(s.facts.(dpglm.Schema).Columns), n, d)
		}
		if _, err := dpglm.NewDataset(x, s.labels, s.facts); err != nil {
			return
		}
		if train, test, err := s.split(1); err == nil && len(train.labels)+len(test.labels) != n {
			t.Error("a split loses rows")
		}
	})
}

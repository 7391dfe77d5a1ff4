package dpglm_test

import (
	"os"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
)

// What a release says of its version is the same everywhere.
func TestVersion(t *testing.T) {
	for file, want := range map[string]string{
		"CHANGELOG.md":          "\n## " + dpglm.Version + " ",
		"CITATION.cff":          "\nversion: " + dpglm.Version + "\n",
		"README.md":             "@v" + dpglm.Version,
		"docs/GUIDE.md":         "dpglm/beam@v" + dpglm.Version,
		"beam/go.mod":           "github.com/dpglm/dpglm v" + dpglm.Version + "\n",
		"table/columnar/go.mod": "github.com/dpglm/dpglm v" + dpglm.Version + "\n",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q", file, want)
		}
	}
	// The newest version stands first.
	text, _ := os.ReadFile("CHANGELOG.md")
	if _, rest, _ := strings.Cut(string(text), "\n## "); !strings.HasPrefix(rest, dpglm.Version) {
		t.Errorf("CHANGELOG.md begins with %.10s", rest)
	}
}

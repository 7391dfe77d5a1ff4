package dpglm_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// docs/PRIVACY.md has what a review must read as the command counts it.
func TestReviewList(t *testing.T) {
	page, err := os.ReadFile("docs/PRIVACY.md")
	if err != nil {
		t.Fatal(err)
	}
	table, err := exec.Command("go", "run", "./internal/reviewlist").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, held := range []string{"internal/release", "internal/curator", "internal/kernel", "internal/accounting", "losses", "mechanisms"} {
		if !strings.Contains(string(table), "\n| `"+held+"` |") {
			t.Errorf("the table lacks %s", held)
		}
	}
	if !strings.Contains(string(page), "\n"+string(table)+"<!-- end -->\n") {
		t.Errorf("docs/PRIVACY.md is out of date; go run ./internal/reviewlist -write mends it. It should have\n%s", table)
	}
}

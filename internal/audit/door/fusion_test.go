package door_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// roundsProducts are the directories in whose packages no product reaches a sum unrounded,
// whatever the processor: bounds on their rounding assume it, and the same bits
// everywhere need it. (The bounds of package accounting hold with fewer roundings,
// too.)
var roundsProducts = []string{"internal/curator", "internal/kernel", "internal/release", "internal/sketch", "internal/vector", "losses"}

// fused matches a fused multiply-add in the compiler's listing, and the place in the
// source that it stands for.
var fused = regexp.MustCompile(`\((\S+\.go):(\d+)\)\s+FN?M(?:ADD|SUB)[DS]\s`)

// Go may fuse x*y + z, also across statements and inlined calls, unless the product
// is converted, float64(x*y) + z. A compiler for amd64 does so from GOAMD64=v3 on and
// one for arm64 wherever it can, so that its listing shows what is left. On the other
// side, a kernel that fuses says so with math.FMA.
func TestProductsAreRounded(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for another processor")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go tool")
	}
	sources := goSources(t, roundsProducts)
	var args []string
	for _, dir := range roundsProducts {
		args = append(args, "-gcflags=./"+dir+"/...=-S")
	}
	for _, dir := range roundsProducts {
		args = append(args, "./"+dir+"/...")
	}
	build := exec.Command(tool, append([]string{"build"}, args...)...)
	build.Env = append(os.Environ(), "GOARCH=arm64", "GOFLAGS=", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build for arm64: %v\n%.2000s", err, listing)
	}
	told, meant := map[string]bool{}, 0
	for _, m := range fused.FindAllStringSubmatch(string(listing), -1) {
		lines, ok := sources[m[1]]
		if !ok {
			continue // another package's, inlined
		}
		n, err := strconv.Atoi(m[2])
		if err != nil || n < 1 || n > len(lines) {
			t.Fatalf("%s has no line %q", m[1], m[2])
		}
		switch at := m[1] + ":" + m[2]; {
		case strings.Contains(lines[n-1], "math.FMA("):
			meant++
		case !told[at]:
			told[at] = true
			t.Errorf("%s: a product joins a sum without being rounded, convert it to float64: %s", at, strings.TrimSpace(lines[n-1]))
		}
	}
	if meant == 0 {
		t.Error("the listing shows no fused multiply-add at all, not even those of package kernel")
	}
}

// goSources returns the lines of all Go files in some directories by the files' full
// paths. Reading them all also tells the go command when a cached result is stale.
func goSources(t *testing.T, dirs []string) map[string][]string {
	t.Helper()
	sources := map[string][]string{}
	for _, dir := range dirs {
		full, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(full, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			data, err := os.ReadFile(path)
			sources[path] = strings.Split(string(data), "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

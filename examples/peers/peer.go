package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed python
var python embed.FS

// The neighbourings.
const (
	replaced = "replace-one"
	added    = "add-or-remove"
)

// peer is a library to compare with.
type peer struct {
	name      string
	relation  string // of its promise
	labels    string // that it has something for
	what      string
	neighbour string // where the neighbouring is said
}

var peers = []peer{
	{"diffprivlib", replaced, "binary, numeric", "LogisticRegression (objective perturbation) and LinearRegression (functional mechanism), δ = 0", "that of the papers it implements"},
	{"opendp", added, "numeric", "LinearRegression after Theil and Sen, of one feature; the feature is chosen on the rows held out, too", "by its own privacy map, at a distance of 1"},
	{"jaxprivacy", added, "binary, numeric, count", "gradient descent with clipped gradients, by hand: full batches, or Poisson batches of a tenth of the rows", "by its accountant, ADD_OR_REMOVE_ONE"},
	{"dpmm", added, "binary, numeric, count", "MST makes rows, of which scikit-learn fits a model", "its noise is for counts that move by 1"},
}

// environment is a peer that can be run.
type environment struct {
	peer
	python  string // its interpreter
	scripts string // the folder of the programs
}

// requirements are a peer's pins.
func (p peer) requirements() []byte {
	text, err := python.ReadFile("python/requirements-" + p.name + ".txt")
	if err != nil {
		return nil
	}
	return text
}

// version is that of the peer in its pins.
func (p peer) version() string {
	name := p.name
	if name == "jaxprivacy" {
		name = "jax_privacy" // as PyPI has it
	}
	for line := range strings.Lines(string(p.requirements())) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"=="); ok {
			return v
		}
	}
	return "?"
}

// programLines are those of a program in python, or in Go, that aren't blank or a comment's.
func programLines(text string) int {
	count, inside := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if quotes := strings.Count(line, `"""`); quotes > 0 {
			inside = inside != (quotes == 1)
			continue
		}
		if line != "" && !inside && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			count++
		}
	}
	return count
}

func (p peer) lines() int {
	text, err := python.ReadFile("python/" + p.name + "_peer.py")
	if err != nil {
		return 0
	}
	return programLines(string(text))
}

// prepare makes the environment, unless it is there.
func (p peer) prepare(ctx context.Context, cache string) (environment, error) {
	sum := sha256.Sum256(p.requirements())
	home := filepath.Join(cache, p.name+"-"+hex.EncodeToString(sum[:4]))
	e := environment{p, filepath.Join(home, "bin", "python"), filepath.Join(home, "programs")}
	made := filepath.Join(home, "made")
	if _, err := os.Stat(made); err != nil {
		if err := p.install(ctx, home, e.python); err != nil {
			return e, err
		}
		if err := os.WriteFile(made, nil, 0o644); err != nil {
			return e, err
		}
	}
	return e, writePrograms(e.scripts)
}

func (p peer) install(ctx context.Context, home, interpreter string) error {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	pins := filepath.Join(home, "requirements.txt")
	if err := os.WriteFile(pins, p.requirements(), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", home},
		{interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "30", "-r", pins},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, lastLine(out))
		}
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

func writePrograms(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	entries, err := python.ReadDir("python")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		text, err := python.ReadFile("python/" + entry.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, entry.Name()), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// answer is a line of a peer's program: a model, or why there is none.
type answer struct {
	Epsilon   float64   `json:"epsilon"`
	Delta     float64   `json:"delta"`
	Config    string    `json:"config"`
	Weights   []float64 `json:"weights"`
	Intercept float64   `json:"intercept"`
	Refused   string    `json:"refused"`
	CPU       float64   `json:"cpu"`  // seconds
	Peak      float64   `json:"peak"` // MB
}

// ask runs the peer's program on the split in a folder.
func (e environment) ask(ctx context.Context, folder string) ([]answer, error) {
	c := exec.CommandContext(ctx, e.python, filepath.Join(e.scripts, e.name+"_peer.py"), folder)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "JAX_PLATFORMS=cpu", "XLA_FLAGS=--xla_cpu_multi_thread_eigen=false")
	return answers(c)
}

// answers runs a program and reads its lines.
func answers(c *exec.Cmd) ([]answer, error) {
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastLine(messages.Bytes()))
	}
	var all []answer
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, out.Len()+1)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		all = append(all, a)
	}
	return all, lines.Err()
}

// has reports whether the peer has something for labels of the kind.
func (p peer) has(kind string) bool { return slices.Contains(strings.Split(p.labels, ", "), kind) }

var errNoAnswer = errors.New("the program printed no model")

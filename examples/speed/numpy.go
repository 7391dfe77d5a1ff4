package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

//go:embed numpy_pass.py
var numPyScript string

// numPy is a running numpy_pass.py, with as many threads as Go has.
type numPy struct {
	version string
	cmd     *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
}

// findNumPy returns the first of the interpreters that has NumPy, or "".
func findNumPy(interpreters ...string) string {
	for _, python := range interpreters {
		if exec.Command(python, "-c", "import numpy").Run() == nil {
			return python
		}
	}
	return ""
}

func startNumPy(python string) (*numPy, error) {
	version, err := exec.Command(python, "-c", "import numpy; print(numpy.__version__)").Output()
	if err != nil {
		return nil, fmt.Errorf("%s has no NumPy: %w", python, err)
	}
	threads := runtime.GOMAXPROCS(0)
	n := &numPy{
		version: fmt.Sprintf("NumPy %s, %d threads", strings.TrimSpace(string(version)), threads),
		cmd:     exec.Command(python, "-c", numPyScript, "serve"),
	}
	n.cmd.Env = append(os.Environ(), fmt.Sprintf("OPENBLAS_NUM_THREADS=%d", threads))
	n.cmd.Stderr = os.Stderr
	if n.ask, err = n.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.answers = bufio.NewScanner(out)
	return n, n.cmd.Start()
}

// seconds asks for the time of one operation. OpenBLAS's threads spin for some
// milliseconds after their work, which must not slow down what comes next.
func (n *numPy) seconds(operation string, columns, megabytes int) (float64, error) {
	if _, err := fmt.Fprintf(n.ask, "%s %d %d\n", operation, columns, megabytes); err != nil {
		return 0, err
	}
	if !n.answers.Scan() {
		return 0, fmt.Errorf("NumPy gave no answer for %q", operation)
	}
	time.Sleep(100 * time.Millisecond)
	return strconv.ParseFloat(n.answers.Text(), 64)
}

// stop ends the script, which reads until the end of its input.
func (n *numPy) stop() {
	n.ask.Close()
	n.cmd.Wait()
}

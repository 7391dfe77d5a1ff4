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

// script is a running Python that answers each line with the seconds of what it names.
type script struct {
	cmd     *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
}

// startScript starts one, with as many threads as Go has if a variable of the environment is
// their number.
func startScript(python, text, threads string, args ...string) (*script, error) {
	s := &script{cmd: exec.Command(python, append([]string{"-c", text}, args...)...)}
	s.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", threads, runtime.GOMAXPROCS(0)))
	s.cmd.Stderr = os.Stderr
	var err error
	if s.ask, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.answers = bufio.NewScanner(out)
	return s, s.cmd.Start()
}

// seconds asks for the time of one operation.
func (s *script) seconds(operation string) (float64, error) {
	if _, err := fmt.Fprintln(s.ask, operation); err != nil {
		return 0, err
	}
	if !s.answers.Scan() {
		return 0, fmt.Errorf("no answer from Python for %q", operation)
	}
	return strconv.ParseFloat(s.answers.Text(), 64)
}

// stop ends the script, which reads until the end of its input.
func (s *script) stop() {
	s.ask.Close()
	s.cmd.Wait()
}

// numPy is a running numpy_pass.py.
type numPy struct {
	*script
	version string
}

// has reports whether an interpreter has a library.
func has(python, library string) bool {
	return exec.Command(python, "-c", "import "+library).Run() == nil
}

// findPython returns the first interpreter that has one of the libraries, in their order, or "".
func findPython(libraries ...string) string {
	for _, library := range libraries {
		for _, python := range []string{"python3", "/usr/bin/python3"} {
			if has(python, library) {
				return python
			}
		}
	}
	return ""
}

func startNumPy(python string) (*numPy, error) {
	version, err := exec.Command(python, "-c", "import numpy; print(numpy.__version__)").Output()
	if err != nil {
		return nil, fmt.Errorf("%s has no NumPy: %w", python, err)
	}
	s, err := startScript(python, numPyScript, "OPENBLAS_NUM_THREADS", "serve")
	return &numPy{s, fmt.Sprintf("NumPy %s, %d threads", strings.TrimSpace(string(version)), runtime.GOMAXPROCS(0))}, err
}

// seconds asks for the time of one operation. OpenBLAS's threads spin for some
// milliseconds after their work, which must not slow down what comes next.
func (n *numPy) seconds(operation string, columns, megabytes int) (float64, error) {
	s, err := n.script.seconds(fmt.Sprintf("%s %d %d", operation, columns, megabytes))
	time.Sleep(100 * time.Millisecond)
	return s, err
}

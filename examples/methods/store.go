package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// store are scores of fits, in a CSV file that each is added to once it is known.
type store struct {
	scores map[key]score
	why    map[key]string // why there is none
	file   *os.File
	w      *csv.Writer
}

// score is the metric to judge by, and the same of the model whose intercept is moved; not a number where there is none.
type score struct {
	metrics.Metric
	centred float64
}

var header = []string{"set", "most_rows", "method", "epsilon", "seed", "metric", "value", "centred", "refused"}

// openStore reads the file, if there is one, and opens it to add to.
func openStore(path string) (*store, error) {
	s := &store{scores: map[key]score{}, why: map[key]string{}}
	old, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	fresh := err != nil
	if !fresh {
		err = s.read(old)
		old.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if s.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	s.w = csv.NewWriter(s.file)
	if fresh {
		err = s.w.Write(header)
	}
	return s, err
}

func (s *store) read(r io.Reader) error {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return err
	}
	for i, line := range lines {
		if i == 0 {
			continue
		}
		if len(line) != len(header) {
			return fmt.Errorf("line %d: must have %d fields", i+1, len(header))
		}
		rows, err1 := strconv.Atoi(line[1])
		epsilon, err2 := strconv.ParseFloat(line[3], 64)
		seed, err3 := strconv.ParseUint(line[4], 10, 64)
		value, err4 := strconv.ParseFloat(line[6], 64)
		centred, err5 := strconv.ParseFloat(line[7], 64)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		s.keep(key{line[0], rows, line[2], epsilon, seed}, score{metrics.Metric{Name: line[5], Value: value}, centred}, line[8])
	}
	return nil
}

func (s *store) keep(k key, m score, refused string) {
	if refused != "" {
		s.why[k] = refused
		return
	}
	s.scores[k] = m
}

func (s *store) has(k key) bool {
	_, scored := s.scores[k]
	return scored || s.why[k] != ""
}

// add keeps the first of a fit's scores, or why there are none.
func (s *store) add(k key, scores, centred []metrics.Metric, refusal error) error {
	m, refused := score{metrics.Metric{Value: math.NaN()}, math.NaN()}, ""
	if refusal != nil {
		refused = refusal.Error()
	} else {
		m.Metric = scores[0]
		if centred != nil {
			m.centred = centred[0].Value
		}
	}
	s.keep(k, m, refused)
	err := s.w.Write([]string{k.set, strconv.Itoa(k.rows), k.method, strconv.FormatFloat(k.epsilon, 'g', -1, 64),
		strconv.FormatUint(k.seed, 10), m.Name, strconv.FormatFloat(m.Value, 'g', -1, 64), strconv.FormatFloat(m.centred, 'g', -1, 64), refused})
	s.w.Flush()
	return errors.Join(err, s.w.Error())
}

func (s *store) close() { s.file.Close() }

package tabular

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxFeatures is the largest number of features that a LIBSVM file may have.
const MaxFeatures = 1 << 28

// CSR is a matrix in compressed sparse rows: row i has Values[Indptr[i]:
// Indptr[i+1]] in the columns Indices[Indptr[i]:Indptr[i+1]], which ascend.
type CSR struct {
	Cols    int
	Indptr  []int
	Indices []int
	Values  []float64
}

// Dims returns the shape.
func (c *CSR) Dims() (rows, columns int) { return len(c.Indptr) - 1, c.Cols }

// Row returns the columns and values of row i, to be read only.
func (c *CSR) Row(i int) (columns []int, values []float64) {
	lo, hi := c.Indptr[i], c.Indptr[i+1]
	return c.Indices[lo:hi:hi], c.Values[lo:hi:hi]
}

// Take copies the given rows.
func (c *CSR) Take(rows []int) *CSR {
	part := &CSR{Cols: c.Cols, Indptr: []int{0}}
	for _, i := range rows {
		columns, values := c.Row(i)
		part.append(columns, values)
	}
	return part
}

func (c *CSR) append(columns []int, values []float64) {
	c.Indices = append(c.Indices, columns...)
	c.Values = append(c.Values, values...)
	c.Indptr = append(c.Indptr, len(c.Indices))
}

// ReadLIBSVMFile reads the LIBSVM file at path, gzipped if its name ends in .gz.
func ReadLIBSVMFile(path string, features int) (*CSR, []float64, error) {
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	x, y, err := ReadLIBSVM(f, features)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, y, nil
}

// ReadLIBSVM reads lines "label index:value …" with indices that ascend from 1
// to at most the given number of features. If that is 0, the largest index in
// the data stands for it. What follows a # is a comment.
func ReadLIBSVM(r io.Reader, features int) (*CSR, []float64, error) {
	if features < 0 || features > MaxFeatures {
		return nil, nil, fmt.Errorf("%w: the number of features must lie between 0 and %d", ErrIndex, MaxFeatures)
	}
	largest := features
	if features == 0 {
		largest = MaxFeatures
	}
	x := &CSR{Cols: features, Indptr: []int{0}}
	var y []float64
	lines := bufio.NewReader(r)
	for number, last := 1, false; !last; number++ {
		line, err := lines.ReadString('\n')
		if last = err == io.EOF; err != nil && !last {
			return nil, nil, err
		}
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		label, err := parse(fields[0])
		if err != nil {
			return nil, nil, fmt.Errorf("line %d, label: %w", number, err)
		}
		columns, values, err := parsePairs(fields[1:], largest)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d, %w", number, err)
		}
		if k := len(columns); features == 0 && k > 0 {
			x.Cols = max(x.Cols, columns[k-1]+1)
		}
		x.append(columns, values)
		y = append(y, label)
	}
	if len(y) == 0 || x.Cols == 0 {
		return nil, nil, fmt.Errorf("%w: the file has no row with a feature", ErrRow)
	}
	return x, y, nil
}

// parsePairs parses "index:value" fields into columns that count from 0.
func parsePairs(fields []string, largest int) (columns []int, values []float64, err error) {
	last := 0
	for k, field := range fields {
		left, right, _ := strings.Cut(field, ":")
		index, err := strconv.Atoi(left)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("pair %d: %w must be a whole number followed by a colon", k+1, ErrIndex)
		case index < 1 || index > largest:
			return nil, nil, fmt.Errorf("pair %d: %w is out of range, 1 to %d", k+1, ErrIndex, largest)
		case index <= last:
			return nil, nil, fmt.Errorf("pair %d: %w must be larger than the one before it", k+1, ErrIndex)
		}
		v, err := parse(right)
		if err != nil {
			return nil, nil, fmt.Errorf("pair %d: %w", k+1, err)
		}
		columns, values, last = append(columns, index-1), append(values, v), index
	}
	return columns, values, nil
}

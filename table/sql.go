package table

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/dpglm/dpglm/internal/check"
)

// SQL reads records of a database query. Values become the texts that a CSV would
// have: NULL an empty field, booleans "true" and "false", times 2006-01-02, or RFC 3339
// with the time of day if there is one.
type SQL struct {
	rows    *sql.Rows
	header  []string
	values  []any
	targets []any // pointers to values
	fields  []string
	row     int
}

// NewSQL reads the names of the columns. The caller closes rows. It fails where the query has
// failed.
func NewSQL(rows *sql.Rows) (*SQL, error) {
	if err := check.Given("rows", rows); err != nil {
		return nil, err
	}
	header, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	s := &SQL{rows: rows, header: header, values: make([]any, len(header)), fields: make([]string, len(header))}
	for i := range s.values {
		s.targets = append(s.targets, &s.values[i])
	}
	return s, nil
}

// Header returns the columns' names.
func (s *SQL) Header() []string { return slices.Clone(s.header) }

// Next returns the next record, and io.EOF after the last. The slice is valid until the next
// call. Other errors are the query's.
func (s *SQL) Next() ([]string, error) {
	if s.rows == nil {
		return nil, check.Fail(check.ErrConfig, "source", nil, "must be made by NewSQL")
	}
	if !s.rows.Next() {
		if err := s.rows.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	s.row++
	if err := s.rows.Scan(s.targets...); err != nil {
		return nil, err
	}
	for i, v := range s.values {
		text, err := sqlText(v)
		if err != nil {
			var e *Error
			if errors.As(err, &e) {
				e.Unit, e.Number, e.Column = "row", s.row, s.header[i]
			}
			return nil, err
		}
		s.fields[i] = text
	}
	return s.fields, nil
}

// Place is the row of the query's result, from 1.
func (s *SQL) Place() (unit string, number int) { return "row", s.row }

// sqlText writes a value as a CSV would have it.
func sqlText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		if size := math.Abs(v); size >= 1e-4 && size < 1e21 {
			return strconv.FormatFloat(v, 'f', -1, 64), nil // 1000000, not 1e+06, which no level is
		}
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case bool:
		return strconv.FormatBool(v), nil
	case time.Time:
		if h, m, s := v.Clock(); h == 0 && m == 0 && s == 0 && v.Nanosecond() == 0 {
			return v.Format(isoDay), nil
		}
		return v.Format(time.RFC3339), nil
	case fmt.Stringer:
		return v.String(), nil
	}
	return "", valueError("", "the driver returns a %T, which has no text; cast the column to a number or a text in the query", v)
}

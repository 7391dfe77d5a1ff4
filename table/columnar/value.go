package columnar

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// writer appends the text of a value.
type writer func(text []byte, row int) ([]byte, error)

// readable reports whether values of a type have a text.
func readable(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return readable(t.ValueType)
	case arrow.ExtensionType:
		return readable(t.StorageType())
	case arrow.DecimalType: // its text has as many digits as the scale says, which damage may
		return t.GetPrecision() <= 76 && t.GetScale() >= -76 && t.GetScale() <= 76
	}
	switch t.ID() {
	case arrow.NULL, arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256,
		arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY,
		arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return true
	}
	return false
}

// writerOf is the writer of an array's values, whose nulls it leaves empty.
func writerOf(values arrow.Array) (writer, error) {
	write, err := present(values)
	if err != nil || values.NullN() == 0 {
		return write, err
	}
	return func(text []byte, row int) ([]byte, error) {
		if values.IsNull(row) {
			return text, nil
		}
		return write(text, row)
	}, nil
}

// present is the writer of values that are there.
func present(values arrow.Array) (writer, error) {
	switch a := values.(type) {
	case *array.Null:
		return func(text []byte, _ int) ([]byte, error) { return text, nil }, nil
	case *array.Dictionary:
		return entry(a)
	case array.ExtensionArray:
		return writerOf(a.Storage())
	case *array.Boolean:
		return func(text []byte, row int) ([]byte, error) { return strconv.AppendBool(text, a.Value(row)), nil }, nil
	case *array.Int8:
		return signed(a.Int8Values()), nil
	case *array.Int16:
		return signed(a.Int16Values()), nil
	case *array.Int32:
		return signed(a.Int32Values()), nil
	case *array.Int64:
		return signed(a.Int64Values()), nil
	case *array.Uint8:
		return unsigned(a.Uint8Values()), nil
	case *array.Uint16:
		return unsigned(a.Uint16Values()), nil
	case *array.Uint32:
		return unsigned(a.Uint32Values()), nil
	case *array.Uint64:
		return unsigned(a.Uint64Values()), nil
	case *array.Float16:
		return func(text []byte, row int) ([]byte, error) {
			return number(text, float64(a.Value(row).Float32()), 32), nil
		}, nil
	case *array.Float32:
		return func(text []byte, row int) ([]byte, error) {
			return number(text, float64(a.Value(row)), 32), nil
		}, nil
	case *array.Float64:
		return func(text []byte, row int) ([]byte, error) {
			return number(text, a.Value(row), 64), nil
		}, nil
	case *array.Date32:
		return func(text []byte, row int) ([]byte, error) {
			return a.Value(row).ToTime().AppendFormat(text, time.DateOnly), nil
		}, nil
	case *array.Date64:
		return func(text []byte, row int) ([]byte, error) { return moment(text, a.Value(row).ToTime()), nil }, nil
	case *array.Timestamp:
		kind := a.DataType().(*arrow.TimestampType)
		toTime, err := kind.GetToTimeFunc()
		if err != nil {
			return nil, fmt.Errorf("its time zone %q isn't known here; write timestamps in UTC", kind.TimeZone)
		}
		return func(text []byte, row int) ([]byte, error) { return moment(text, toTime(a.Value(row))), nil }, nil
	case array.StringLike:
		return func(text []byte, row int) ([]byte, error) { return append(text, a.Value(row)...), nil }, nil
	case interface{ Value(int) []byte }:
		return func(text []byte, row int) ([]byte, error) { return append(text, a.Value(row)...), nil }, nil
	}
	if _, ok := values.DataType().(arrow.DecimalType); ok {
		return func(text []byte, row int) ([]byte, error) { return append(text, values.ValueStr(row)...), nil }, nil
	}
	return nil, fmt.Errorf("its type %s has no text", values.DataType())
}

// entry writes the values of a dictionary.
func entry(a *array.Dictionary) (writer, error) {
	words := a.Dictionary()
	write, err := writerOf(words)
	return func(text []byte, row int) ([]byte, error) {
		at := a.GetValueIndex(row)
		if at < 0 || at >= words.Len() {
			return nil, fmt.Errorf("it refers to value %d of a dictionary of %d; write the file or stream again", at, words.Len())
		}
		return write(text, at)
	}, err
}

func signed[T int8 | int16 | int32 | int64](values []T) writer {
	return func(text []byte, row int) ([]byte, error) {
		return strconv.AppendInt(text, int64(values[row]), 10), nil
	}
}

func unsigned[T uint8 | uint16 | uint32 | uint64](values []T) writer {
	return func(text []byte, row int) ([]byte, error) {
		return strconv.AppendUint(text, uint64(values[row]), 10), nil
	}
}

// number is a number of so many bits, as package table writes those of databases: without an
// exponent, so that 1000000 is the level "1000000", unless it has very many digits.
func number(text []byte, v float64, bits int) []byte {
	format := byte('g')
	if size := math.Abs(v); size >= 1e-4 && size < 1e21 {
		format = 'f'
	}
	return strconv.AppendFloat(text, v, format, -1, bits)
}

// moment is a day, with the time of day if there is one, as package table writes those of
// databases.
func moment(text []byte, t time.Time) []byte {
	if h, m, s := t.Clock(); h == 0 && m == 0 && s == 0 && t.Nanosecond() == 0 {
		return t.AppendFormat(text, time.DateOnly)
	}
	return t.AppendFormat(text, time.RFC3339)
}

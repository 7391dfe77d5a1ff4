package columnar_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

// patients are a table with a column of each kind that a schema has, and more.
var patients = arrow.NewSchema([]arrow.Field{
	{Name: "patient", Type: arrow.PrimitiveTypes.Int64},
	{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "ward", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
	{Name: "smoker", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "admitted", Type: arrow.FixedWidthTypes.Date32},
	{Name: "seen", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
	{Name: "cost", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true},
	{Name: "stays", Type: arrow.PrimitiveTypes.Uint16},
	{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
}, nil)

// batch has the three patients of package sqltest.
func batch(t testing.TB) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, patients)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{7, 8, 7}, nil)
	b.Field(1).(*array.Float64Builder).AppendValues([]float64{60, 80.5, 0}, []bool{true, true, false})
	for _, ward := range []string{"icu", "surgery ", ""} {
		if w := b.Field(2).(*array.BinaryDictionaryBuilder); ward == "" {
			w.AppendNull()
		} else if err := w.AppendString(ward); err != nil {
			t.Fatal(err)
		}
	}
	b.Field(3).(*array.BooleanBuilder).AppendValues([]bool{true, false, false}, []bool{true, true, false})
	for _, text := range []string{"2020-01-01", "2020-12-31", "2019-01-01"} {
		day, _ := time.Parse(time.DateOnly, text)
		b.Field(4).(*array.Date32Builder).Append(arrow.Date32FromTime(day))
	}
	for _, text := range []string{"2020-01-01T12:00:00Z", "2020-07-01T00:00:00Z", "2021-01-01T06:30:00Z"} {
		at, _ := time.Parse(time.RFC3339, text)
		b.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(at.UnixMilli()))
	}
	b.Field(6).(*array.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.FromI64(5000), decimal128.FromI64(2500), {}}, []bool{true, true, false})
	b.Field(7).(*array.Uint16Builder).AppendValues([]uint16{2, 0, 12}, nil)
	for range 3 {
		tags := b.Field(8).(*array.ListBuilder)
		tags.Append(true)
		tags.ValueBuilder().(*array.StringBuilder).Append("a")
	}
	return b.NewRecordBatch()
}

func schema() table.Schema {
	return table.Schema{Version: table.Version, Label: "stays", Person: "patient", MaxRows: 2, Columns: []table.Column{
		{Name: "patient", Kind: table.ID},
		{Name: "age", Kind: table.Numeric, Range: []float64{20, 100}, Missing: table.MissingIndicator},
		{Name: "ward", Kind: table.Categorical, Levels: []string{"surgery", "icu"}, Missing: table.MissingLevel},
		{Name: "smoker", Kind: table.Binary, Positive: []string{"true"}, Negative: []string{"false"}, Missing: table.MissingIndicator},
		{Name: "admitted", Kind: table.Date, Origin: "2020-01-01", From: "2020-01-01", To: "2020-12-31"},
		{Name: "seen", Kind: table.Date, Origin: "2020-01-01", From: "2020-01-01", To: "2020-01-02", Layouts: []string{"2006-01-02", "2006-01-02T15:04:05Z07:00"}},
		{Name: "cost", Kind: table.Numeric, Range: []float64{0, 100}, Missing: table.MissingConstant, Constant: "75"},
		{Name: "stays", Kind: table.Count, Cap: 10},
		{Name: "tags", Kind: table.Ignored},
	}}
}

// write writes batches as a Parquet file with the Arrow schema in it, an Arrow file and an Arrow
// stream.
func write(t testing.TB, batches ...arrow.RecordBatch) (paths []string) {
	t.Helper()
	return writeWith(t, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()), batches...)
}

func writeWith(t testing.TB, properties pqarrow.ArrowWriterProperties, batches ...arrow.RecordBatch) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	create := func(name string) *os.File {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		return f
	}
	of := batches[0].Schema()
	p, err := pqarrow.NewFileWriter(of, create("t.parquet"), parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy)), properties)
	if err != nil {
		t.Fatal(err)
	}
	arrowFile := create("t.arrow")
	a, err := ipc.NewFileWriter(arrowFile, ipc.WithSchema(of))
	if err != nil {
		t.Fatal(err)
	}
	streamFile := create("t.arrows")
	s := ipc.NewWriter(streamFile, ipc.WithSchema(of), ipc.WithZstd())
	for _, b := range batches {
		if err := errors.Join(p.Write(b), a.Write(b), s.Write(b)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(p.Close(), a.Close(), s.Close(), arrowFile.Close(), streamFile.Close()); err != nil {
		t.Fatal(err)
	}
	return paths
}

// read reads each file as what it is.
func read(path string, s table.Schema) (*table.Table, error) {
	if strings.HasSuffix(path, ".parquet") {
		return columnar.ReadParquetFile(path, s)
	}
	return columnar.ReadArrowFile(path, s)
}

// Numbers, dictionaries, booleans, dates, timestamps, decimals and nulls become what they
// would be in a CSV, and a column that isn't needed may be of any type.
func TestKindsOfColumns(t *testing.T) {
	want := []map[string]float64{
		{"age": 0, "ward=icu": 1, "smoker=true": 1, "admitted": -1, "seen": 0, "cost": 0},
		{"age": .5125, "admitted": 1, "seen": 1, "cost": -.5},
		{"age=missing": 1, "ward=missing": 1, "smoker=missing": 1, "admitted": -1, "seen": 1, "cost": .5},
	}
	for _, path := range write(t, batch(t)) {
		got, err := read(path, schema())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Labels(), []float64{2, 0, 10}) || !slices.Equal(got.Persons(), []int{0, 1, 0}) {
			t.Errorf("%s: labels %v, persons %v", path, got.Labels(), got.Persons())
		}
		for i, row := range want {
			for j, f := range got.Encoder().Features() {
				if v := got.Matrix().At(i, j); v != row[f.Name] {
					t.Errorf("%s: row %d: %s is %g, want %g", path, i+1, f.Name, v, row[f.Name])
				}
			}
		}
	}
}

// texts are the fields of all rows.
func texts(t *testing.T, r table.Source) (rows [][]string) {
	t.Helper()
	for {
		record, err := r.Next()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			return rows
		}
		rows = append(rows, slices.Clone(record))
		if unit, number := r.Place(); unit != "row" || number != len(rows) {
			t.Errorf("%s %d after %d rows", unit, number, len(rows))
		}
	}
}

// column is a batch of one column of a type, decoded from JSON.
func column(t testing.TB, of arrow.DataType, values string) arrow.RecordBatch {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: of, Nullable: true}}, nil)
	a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader(values))
	if err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	return array.NewRecordBatch(s, []arrow.Array{a}, int64(a.Len()))
}

func reader(t testing.TB, batches ...arrow.RecordBatch) array.RecordReader {
	t.Helper()
	r, err := array.NewRecordReader(batches[0].Schema(), batches)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each type has its text, and none panics.
func TestTexts(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.PrimitiveTypes.Int32}
	paris := &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Paris"}
	for _, c := range []struct {
		of     arrow.DataType
		values string
		want   string
	}{
		{arrow.Null, `[null, null]`, "|"},
		{arrow.FixedWidthTypes.Boolean, `[true, null, false]`, "true||false"},
		{arrow.PrimitiveTypes.Int8, `[-128, null]`, "-128|"},
		{arrow.PrimitiveTypes.Int16, `[-300]`, "-300"},
		{arrow.PrimitiveTypes.Int32, `[70000]`, "70000"},
		{arrow.PrimitiveTypes.Int64, `[-9007199254740993]`, "-9007199254740993"},
		{arrow.PrimitiveTypes.Uint8, `[255]`, "255"},
		{arrow.PrimitiveTypes.Uint16, `[65535]`, "65535"},
		{arrow.PrimitiveTypes.Uint32, `[4294967295]`, "4294967295"},
		{arrow.PrimitiveTypes.Uint64, `[18446744073709551615]`, "18446744073709551615"},
		{arrow.FixedWidthTypes.Float16, `[0.5]`, "0.5"},
		{arrow.FixedWidthTypes.Float16, `[2048]`, "2048"},
		{arrow.PrimitiveTypes.Float32, `[0.1, null, 1000000]`, "0.1||1000000"},
		{arrow.PrimitiveTypes.Float64, `[0.1, 1e300, 1000000, -1234567.5, 1e-7, 0]`, "0.1|1e+300|1000000|-1234567.5|1e-07|0"},
		{&arrow.Decimal32Type{Precision: 5, Scale: 1}, `["-12.5"]`, "-12.5"},
		{&arrow.Decimal64Type{Precision: 9, Scale: 3}, `["12.005"]`, "12.005"},
		{&arrow.Decimal128Type{Precision: 20, Scale: 2}, `["123456789012345678.25", null]`, "123456789012345678.25|"},
		{&arrow.Decimal256Type{Precision: 40, Scale: 0}, `["7"]`, "7"},
		{arrow.BinaryTypes.String, `["a b", "", null, "ü"]`, "a b|||ü"},
		{arrow.BinaryTypes.LargeString, `["long"]`, "long"},
		{arrow.BinaryTypes.StringView, `["seen", null]`, "seen|"},
		{arrow.BinaryTypes.Binary, `["YWI="]`, "ab"},
		{arrow.BinaryTypes.LargeBinary, `["YWI="]`, "ab"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `["YWI="]`, "ab"},
		{arrow.FixedWidthTypes.Date32, `["2024-02-29", null]`, "2024-02-29|"},
		{arrow.FixedWidthTypes.Date64, `["2024-02-29"]`, "2024-02-29"},
		{&arrow.TimestampType{Unit: arrow.Second}, `["2024-02-29 00:00:00", "2024-02-29 01:02:03"]`, "2024-02-29|2024-02-29T01:02:03Z"},
		{paris, `["2024-07-01 00:00:00Z"]`, "2024-07-01T02:00:00+02:00"},
		{dictionary, `[5, null, 7, 5]`, "5||7|5"},
	} {
		r, err := columnar.NewReader(reader(t, column(t, c.of, c.values)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range texts(t, r) {
			got = append(got, row...)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.of, got, c.want)
		}
	}
}

// Batches of any size follow one another, with dictionaries of their own.
func TestManyBatches(t *testing.T) {
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	r, err := columnar.NewReader(reader(t, column(t, words, `["a", "b"]`), column(t, words, `[]`), column(t, words, `["b", null, "c"]`)))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(texts(t, r)); got != "[[a] [b] [b] [] [c]]" {
		t.Error(got)
	}
}

// Many rows in several row groups are those of a CSV.
func TestAgreesWithCSV(t *testing.T) {
	of := arrow.NewSchema([]arrow.Field{{Name: "junk", Type: arrow.BinaryTypes.String}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "g", Type: arrow.BinaryTypes.String}, {Name: "y", Type: arrow.PrimitiveTypes.Int32}}, nil)
	var csv strings.Builder
	csv.WriteString("junk,x,g,y\n")
	var batches []arrow.RecordBatch
	for k := range 3 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, of)
		for i := range 9000 {
			x, g, y := float64(i*(k+1))/7, []string{"a", "b", "c"}[i%3], int32(i%5)
			b.Field(0).(*array.StringBuilder).Append("z")
			b.Field(1).(*array.Float64Builder).Append(x)
			b.Field(2).(*array.StringBuilder).Append(g)
			b.Field(3).(*array.Int32Builder).Append(y)
			fmt.Fprintf(&csv, "z,%v,%s,%d\n", x, g, y)
		}
		batches = append(batches, b.NewRecordBatch())
	}
	s := table.Schema{Version: table.Version, Label: "y", Columns: []table.Column{
		{Name: "g", Kind: table.Categorical, Levels: []string{"a", "b", "c"}},
		{Name: "x", Kind: table.Numeric, Range: []float64{0, 4000}},
		{Name: "y", Kind: table.Count, Cap: 4}}}
	want, err := table.ReadCSV(strings.NewReader(csv.String()), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range write(t, batches...) {
		got, err := read(path, s)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Labels(), want.Labels()) || !slices.Equal(got.Dense().RawMatrix().Data, want.Dense().RawMatrix().Data) || !slices.Equal(got.Warnings(), want.Warnings()) {
			t.Errorf("%s: the tables differ: %v %v, warnings %q, want %q", path, got, want, got.Warnings(), want.Warnings())
		}
	}
}

// Errors name the column, the type and the row.
func TestErrors(t *testing.T) {
	paths := write(t, batch(t))
	says := func(err error, kind error, want ...string) {
		t.Helper()
		if !errors.Is(err, kind) {
			t.Errorf("%v is no %v", err, kind)
			return
		}
		for _, text := range want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q lacks %q", err, text)
			}
		}
	}
	for _, path := range paths {
		s := schema()
		s.Columns[2].Levels = []string{"surgery", "ward"}
		_, err := read(path, s)
		says(err, table.ErrValue, path, `row 1, column "ward": "icu" is not one`)
		s = schema()
		s.Columns[1].Name = "years"
		_, err = read(path, s)
		says(err, table.ErrColumn, `column "years" is not in the header`)
		s = schema()
		s.Columns[8] = table.Column{Name: "tags", Kind: table.Categorical, Levels: []string{"a", "b"}}
		_, err = read(path, s)
		says(err, table.ErrColumn, path, `column "tags": its type list<`, "leave it out")
	}
	_, err := columnar.OpenParquet(paths[0], "nobody")
	says(err, table.ErrColumn, "nobody", "patient")
	_, err = columnar.OpenParquet(paths[1])
	says(err, table.ErrFile, "not a Parquet file")
	_, err = columnar.OpenArrow(paths[0])
	says(err, table.ErrFile, paths[0])
	_, err = columnar.ReadParquetFile("nowhere.parquet", schema())
	says(err, os.ErrNotExist)
	_, err = columnar.ReadParquetFile(paths[0], table.Schema{})
	says(err, table.ErrSchema)
	_, err = columnar.NewReader(nil)
	says(err, table.ErrFile)
	_, err = columnar.NewReader(reader(t, column(t, &arrow.TimestampType{Unit: arrow.Second}, `["2024-02-29"]`)), "x")
	if err != nil {
		t.Error(err)
	}
	atlantis := &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Nowhere/Atlantis"}
	b := array.NewTimestampBuilder(memory.DefaultAllocator, atlantis)
	b.Append(7)
	lost := arrow.NewSchema([]arrow.Field{{Name: "x", Type: atlantis}}, nil)
	r, err := columnar.NewReader(reader(t, array.NewRecordBatch(lost, []arrow.Array{b.NewArray()}, 1)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Next()
	says(err, table.ErrColumn, `column "x"`, "Nowhere/Atlantis")
	// A file that is cut short has no end, and one without rows no row.
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.parquet")
	if err := os.WriteFile(cut, text[:len(text)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = columnar.ReadParquetFile(cut, schema())
	says(err, table.ErrFile, "cut.parquet", "damaged")
	_, err = read(write(t, batch(t).NewSlice(0, 0))[0], schema())
	says(err, table.ErrFile, "no row")
}

// broken has a row whose index of a dictionary lies beyond its values.
func broken(t *testing.T) arrow.RecordBatch {
	t.Helper()
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	words, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(`["a", "b"]`))
	if err != nil {
		t.Fatal(err)
	}
	places, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, strings.NewReader(`[1, 5]`))
	if err != nil {
		t.Fatal(err)
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: of}}, nil)
	return array.NewRecordBatch(s, []arrow.Array{array.NewDictionaryArray(of, places, words)}, 2)
}

// A dictionary's index beyond its values is an error with its row, and with its file's name where
// there is one.
func TestBrokenDictionary(t *testing.T) {
	bad := broken(t)
	r, err := columnar.NewReader(reader(t, bad))
	if err != nil {
		t.Fatal(err)
	}
	refusesRow2(t, r, "")
	path := filepath.Join(t.TempDir(), "t.arrow")
	var data bytes.Buffer
	w := ipc.NewWriter(&data, ipc.WithSchema(bad.Schema()))
	if err := errors.Join(w.Write(bad), w.Close(), os.WriteFile(path, data.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	f, err := columnar.OpenArrow(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refusesRow2(t, f, path+": ")
	whole, err := columnar.OpenArrow(write(t, batch(t))[1], "age", "ward")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	if rows := texts(t, whole); len(rows) != 3 || rows[1][1] != "80.5" || len(whole.Header()) != 9 {
		t.Error(rows)
	}
}

func refusesRow2(t *testing.T, r table.Source, before string) {
	t.Helper()
	if record, err := r.Next(); err != nil || record[0] != "b" {
		t.Error(record, err)
	}
	_, err := r.Next()
	if want := before + `row 2, column "x": it refers to value 5 of a dictionary of 2`; !errors.Is(err, table.ErrValue) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

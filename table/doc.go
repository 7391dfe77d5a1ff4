// Package table reads tables of people, from files and databases, for package dpglm:
// columns of numbers, levels, answers of yes or no, and dates become bounded features,
// in training and in prediction by the same rules.
//
//	schema, err := table.ReadSchemaFile("hospital.schema.json")
//	t, err := table.ReadCSVFile("hospital.csv", schema)
//	data, err := dpglm.NewTableDataset(t)
//
// # The schema is public
//
// A [Schema] says what is known of the table by those who have never seen its rows:
// from a codebook, a questionnaire, the law, or common sense. Nothing in it may be
// taken from the rows. A range that ends at the largest income gives that income away,
// and so does a level that one person alone has; no noise that is added later covers
// it, as a model is published together with its schema. So this package never fills in
// a range or a level by itself: Init asks for them. What is left to fill in is a text that begins with FILL IN,
// and [ParseSchema] refuses all of these at once.
//
// Choose ranges that most values are sure to lie in: those outside are clamped, and
// too wide a range costs accuracy.
//
// # The schema as JSON
//
//	{
//	  "version": 1,
//	  "label": "readmitted",
//	  "missing": ["NA", "-99"],
//	  "columns": [
//	    {"name": "age", "kind": "numeric", "range": [18, 100], "square": true},
//	    {"name": "income", "kind": "numeric", "range": [1000, 500000], "log": true, "missing": "indicator"},
//	    {"name": "bmi", "kind": "numeric", "range": [12, 60], "knots": [18.5, 25, 30], "missing": "constant", "constant": "25"},
//	    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery", "other"], "reference": "medicine", "other": "other", "missing": "level"},
//	    {"name": "smoker", "kind": "binary", "positive": ["yes", "Y"], "negative": ["no", "N"]},
//	    {"name": "admitted", "kind": "date", "origin": "2020-01-01", "from": "2020-01-01", "to": "2025-12-31", "layouts": ["02.01.2006"]},
//	    {"name": "remarks", "kind": "ignored"},
//	    {"name": "readmitted", "kind": "binary", "positive": ["yes"], "negative": ["no"]}
//	  ],
//	  "interactions": [["age", "ward"]]
//	}
//
// The order of the columns is that of the features. In the file, they may come in any
// order; a column of the file that isn't listed is left out, and a warning says so.
//
//   - "numeric" needs "range". "log" takes the logarithm of the value first, "square"
//     adds its square, and "knots" makes it a cubic spline that bends there. "thousands"
//     names what separates groups of three digits, as in 1,893.06: a comma, an apostrophe
//     or a space, which stand for the typographic ones, too. Without it, such a number is an error. "per" is a step, such as 10, of a
//     column that has none of "log", "square" and "knots": its coefficients, and their ratios,
//     are shown for so many units, too, and nothing else changes.
//   - "categorical" needs "levels"; "fold_case": true reads them in any case of their letters. The "reference", by default the first, gets no
//     feature, so that the others' coefficients are differences from it. "other" names
//     the level that any text gets which isn't listed; without it, such a text is an
//     error.
//   - "binary" needs "positive" and "negative", the texts that mean yes and no; for the
//     label, "above" may take their place: yes is a number above it. The texts may have
//     "fold_case", and the number "thousands".
//   - "onehot" stands for columns of 0 and 1 that belong together, such as "region=north"
//     and "region=south": {"name": "region", "kind": "onehot", "levels": ["north", "south"]}.
//     A row has one 1 at most, or it is an error, and so the group adds no more to the
//     norm than one column. "prefix" takes the place of "region=" where the names begin
//     otherwise. Columns that some program made of the rows say which levels occur:
//     list those that are known without the rows; the others are left out. Where each row
//     has a 1, name a "reference", which gets no feature, if coefficients matter.
//   - "date" needs the days "origin", which becomes the number 0, "from" and "to". Where
//     the file doesn't write 2006-01-02, "layouts" show how it would write that day, as
//     in package time; two by which one text is two days, such as 01/02/2006 and 02/01/2006, can't stand together. "per" is a number of days.
//   - "count" is for a label that is a whole number from 0 to "cap"; it may have "thousands".
//   - "id" is for the column that "person" names: it tells whose row it is, and of a person
//     "max_rows" rows count, which reading doesn't enforce. Texts that differ by more than blanks
//     around them are different persons. "persons" states how many there are, from public
//     knowledge; without it the number of those who occur is public.
//     Each row counts, or with "persons_alike": true each person, whatever the number of rows.
//   - "private", of the schema, names the label where that alone is to be protected: all else is public then, and [Observe] may take
//     ranges, levels and "quantiles" for knots from the rows, which it marks as "observed".
//   - "at_most", of the schema, is a public bound on how many rows there are, or persons, and keeps their number
//     secret: the guarantee is then for one more or less of them, and not for one in another's place.
//   - "ignored" is for a column that isn't used.
//
// The "label" is a column of kind binary, numeric, count or, with three levels or more,
// categorical:
//
//	{"name": "outcome", "kind": "categorical", "levels": ["home", "ward", "died"], "ordered": true, "shares": [70, 25, 5]}
//
// Its "reference" is the level that others are compared with. "ordered" says that the levels
// ascend as they are listed, and "shares", in any unit, what part of the rows each is
// expected to have: a guess from public knowledge, for losses that need thresholds
// (losses.OrdinalFromFractions). Without it these must be estimated (losses.Ordinal's Levels), which
// takes a part of the budget. The "exposure" may name a numeric column whose range is above 0; the "offset", in its place, one of the logarithms of exposures, with a range within ±100; and the "weight" one whose range doesn't
// go below 0: a row counts its weight, of which the upper end of the range is the most, and noise is that of rows which all count as much.
//
// A "followup" says that records are times at risk, of which the label, a binary one, tells whether they ended by the event:
//
//	"label": "died", "followup": {"start": "entry", "end": "exit", "cuts": [0, 1, 2, 5, 10]}
//
// Read makes a row of each period in which a record is at risk, with the time at risk as exposure and the period, "0 to 1", as a column. See
// [Followup]; [Schema.Episodes] is the schema of these rows, which models have.
//
// A missing value, which is an empty field, NULL, or one of the texts in "missing" (see
// DefaultMissing), is an error unless the column has a rule, "missing": "indicator" for
// a feature of its own, "level" for a level of its own, or "constant" to read the
// column's "constant" instead. Labels, persons, exposures and weights may not be missing.
//
// # Files
//
// Before "columns" a schema may also say how a text file is written, "decimal": "," and "encoding": "windows-1252", and which of its records
// are there at all, for training:
//
//	"where": [{"column": "age", "from": 18}, {"column": "region", "in": ["north", "south"]}]
//
// Columns of conditions needn't be features, nor even be listed. A date's "from" and "to" are days after its "origin". What leaves a record out is public, as is how many are left where that is
// public at all: the guarantee is for those who are there, and a neighbour is one of them in another's place. [OpenCSVAs] reads
// several files as one.
//
// # Features
//
//	kind          in the file                       features                     adds to the norm²
//	numeric       a number of the range             1; square: 2; k knots: k+3   1; square: 2; knots: 1
//	categorical   one of the levels                 one a level but one          1
//	binary        a text of positive or negative    1                            1
//	date          a day between from and to         1                            1
//	onehot        columns of 0 and 1                one a level, less reference  1
//	count, id     (the label; the person)           –                            –
//	              missing, as "indicator"           1 more                       –
//	              missing, as "level"               1 more                       –
//
// Each feature lies in [−1, 1], and each row has a norm of at most [Encoder.Bound]. How
// they are made is described at [Encoder], and their names and origins by
// [Encoder.Features]; [Encoder.Units] turns weights into coefficients in the columns'
// own units.
//
// # Errors
//
// Errors about fields name the line, the column, the value and a remedy: of each column
// the first, of a column of dates the first of each sort, how many of the rows have one, and of texts that aren't listed which they are.
// So they are for the curator, who holds the table,
// and not for release; as are [Table.Warnings].
package table

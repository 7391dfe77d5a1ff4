// Package records holds what models write and read: records of tables by name, models in JSON of
// this version and of earlier ones, checksums, and zero values.
package records

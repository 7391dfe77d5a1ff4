// Package fuzz has the targets that go through the public API: plans, fits, data sets, models and
// records of any bytes give errors of their kind, or what they promise.
package fuzz

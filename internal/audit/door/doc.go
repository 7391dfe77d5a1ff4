// Package door holds tests over the source: what the packages between rows and noise may use,
// import, hold in fields and take as arguments, what the compiler must refuse, what the library
// may depend on, and where products are rounded. They type-check the module as it stands.
//
// Read door_test.go first: its lists are what a review would ask for.
package door

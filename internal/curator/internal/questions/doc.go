// Package questions is all that is asked about rows: sums over them, each a value that can be
// sent, and how far each answer moves when one row is replaced.
//
// Sums are rows with labels under a loss, Framed are these in public coordinates, ClassFramed rows
// of several classes there. A method asks, and returns a sum with its sensitivity, from public
// numbers only. The type beside it is the question: what is sent of it, how rows are cut for it and
// how they are added. Whoever holds the rows is asked the same: this process, a worker (remote.go,
// worker.go), or parties, who agree to a plan and answer with integers (parties.go, agreed.go, party.go, partysums.go, fits.go).
//
// Read asking.go first, then gradient.go, a question, and bounds.go, its sensitivity.
package questions

// Package journal stops runs at each of their releases, or where a worker or a context fails, and
// lets them go on from their journals: to the same bits, with nothing spent twice.
package journal

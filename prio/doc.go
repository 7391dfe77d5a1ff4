// Package prio adds up the answers of parties that keep their rows (dpglm.OpenParties) by
// Prio3SumVec, of package github.com/cloudflare/circl/vdaf/prio3/sumvec: each party splits its
// answer into two shares, one for a leader and one for a helper, each of which is random by
// itself; both check, without seeing it, that all integers lie in a range, and add up their shares
// over the parties; the driver adds the two sums.
//
// A [Driver] is the dpglm.Aggregator. [NewLeader], [NewHelper] and [NewParty] make handlers
// for an HTTP server, each of which belongs into a program of its own, of somebody else. All of them
// speak TLS 1.3 with certificates on both sides ([Identity]), have the same [Setup] and know each
// other by name: "driver", "leader", "helper" and "party-1" onwards.
//
// # A round
//
// The driver sends a message to each party, with a round's 16 random bytes. A party answers it
// (package table/party), and sends a share to the leader and another one to the helper. The driver
// asks the leader to collect, which checks all reports with the helper. Each refuses a round
// unless there is one valid report of each party. Then each sends its sum to the driver. The context
// of all shares is the SHA-256 of the setup, of the message's SHA-256, of the 16 bytes and of the range: shares of
// different messages, rounds or setups are never valid together, so that parties which are asked different
// things have no sum. An aggregator closes a
// round when it has checked it; it takes no report for it afterwards, and one of each party before.
//
// A round that fails, as something is down, gives no sum; [Driver.Patience] says for how long it
// is tried again, as a new round of the same message, with fresh shares of the same answer.
//
// # What is proved of an answer, and what isn't
//
// A coordinate of party k's sum lies in [−r·B, r·B], r being its number of rows and B the question's
// bound in steps. It goes as a number from 0 to 2^b − 1, 2^(b−1) being 0, of the fewest bits b for which
// 2^(b−1) is above r·B, at least 16. That it is one of these is proved: a party that lies moves each
// coordinate by no more than 2^(b−1), at most twice what r rows could (where b isn't the least,
// 16). Not proved is that a sum's norm is at most r·B, that it is of r rows of norm B, nor that the rows are true.
// A party that lies within that range is met by what the driver makes of the sum: see Privacy.
//
// The chunk length of the proof is that which makes the proof shortest.
//
// # Privacy
//
// One of the two aggregators must be honest, and so must the driver, which sees the exact sum and adds
// the noise. Then the other aggregator and any parties together learn what the released model
// says, and nothing else [DPRS23], if TurboSHAKE128 is as good as random. Leader and helper together learn everything.
//
// Beyond that, no error depends on rows, so that an aggregator which adds something to its share learns nothing by whether
// a fit goes on: the driver reads a coordinate off the whole field by a map that moves no further than
// the sum does, around the ring of field elements (values beyond 2^(Bits−2) are held there, and go
// down to 0 at half the field). What tells that all parties are in the sum once are integers that
// everybody knows: the number of parties, rows, and the message's mark. Their checksum of rows'
// integers isn't sent, but computed from the sum.
//
// That the sum is right holds only if both aggregators are honest: one that adds something to its sum spoils the model,
// undetected; one that lies while a report is checked has it refused.
//
// [DPRS23]: Davis, Patton, Rosulek, Schoppmann, Verifiable Distributed Aggregation Functions,
// PoPETs 2023 (4).
package prio

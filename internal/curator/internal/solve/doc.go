// Package solve minimises strongly convex functions over a ball, with a
// certificate of how far the answer is from the minimiser. Only the certificate
// counts for privacy; how many iterations it took is nobody's business.
//
// In come a [Problem], which has the function's gradient, value and Hessian, its constants and the
// ball, and a tolerance. Out comes a point within the tolerance of the minimiser, or an error where
// the constants can't be true.
//
// Read solve.go first, the certificate and the order of methods; newton.go, accelerated.go and
// free.go are the methods, ball.go a quadratic's minimum in a ball.
package solve

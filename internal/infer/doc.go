// Package infer estimates with a covariance: it is the method of Infer, whose comment in package
// dpglm says what is released and why.
//
// What comes in is a [Problem], of public numbers, and an estimate.Task. What goes out are weights and
// a [Law]: what is known of their error, made of released numbers, and nil where nothing is
// determined. A law's combinations have standard errors and covariances (law.go).
//
// Begin with fit.go. A pilot of package estimate leaves a frame and a point. Then
//
//   - space (space.go, curvature.go, recentre.go) moves to the coordinates in which the Hessian at the
//     pilot is round;
//   - clipping (clipping.go) chooses the clip, and with it how rows count, and says what it cuts off;
//   - newton (newton.go) takes four steps with that clip, and releases the Hessian that goes with it and
//     the scatter of gradients;
//   - lawof.go makes the law of all these.
package infer

// Package estimate goes from public facts and rows to a model's weights: it is the method of
// StandardisedGD, Auto and Softmax, whose comments in package dpglm say what is released and why.
//
// What comes in is a [Problem], all of it public: numbers of rows and columns, a loss and a budget;
// and a [Task]: rows, which answer questions and can't be read, and the right to release answers.
// What goes out are weights, made of released and public numbers only.
//
// Begin with fit.go, which is the whole way in one screen. Its stops are
//
//   - [Begin] (run.go): a [Run] asks, and draws from a [Pool] of μ²; what is drawn was released;
//   - [Run.Start] (labels.go): the labels' mean, which says how curved the loss is: [Labels];
//   - [Run.Standardise] (frame.go, whiten.go, levels.go): coordinates in which rows are centred and
//     round, and none of a rare level is long: a [Frame];
//   - [Descent] (stage.go, descent.go, scale.go): steps in a frame, a [Stage] after the other, and
//     what their noise says of how far to go; then perhaps one more in coordinates in which the
//     Hessian is round (hessian.go, recentre.go);
//   - [Run.ByColumns] (columns.go): another way, for rows of too many columns to be whitened.
//
// Several classes go the same way with a point of several columns (softmaxrun.go). Packages frankwolfe and ordinal go this way, too.
package estimate

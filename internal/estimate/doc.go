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
//   - [Run.Start] (labels.go), or how many rows each class has (classes.go): how curved the loss is: [Labels];
//   - [Run.Standardise] (frame.go, whiten.go, levels.go): coordinates in which rows are centred and
//     round, as far as noise tells, and none of a rare level is long: a [Frame];
//   - where a descent begins, with a public prior (prior.go);
//   - [Descent] (stage.go, descent.go): steps in a frame, a [Stage], for one column of scores or
//     several (point.go);
//   - a few more along one line (line.go). What an inference begins with has its length by a model of
//     its scores (scale.go); where there is little noise such an inference's steps follow (package infer).
package estimate

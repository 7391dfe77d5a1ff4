// Package rows is the door in, and the sums behind it. A Table takes rows in and
// bounds them; Sums answers package curator's questions, all of them sums over bounded
// rows, and knows how far each answer moves when one row is replaced.
package rows

package dpglm

// Version is this library's, by semantic versioning. It is written into models' JSON.
const Version = "0.1.0"

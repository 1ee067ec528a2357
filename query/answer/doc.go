// Package answer writes what a query found for its readers: compact text for a
// language model, JSON for programs. It also reads the forms that arguments
// take: times, page cursors, severities.
//
// Nouns: Head, what the first line says of the question; Options, the budget of
// a text. The first line of a text is the whole truth: signal, window, how many
// of how many are shown, what was cut and where the next page begins. Then
// resources, each written once, then one line a row. A row is shown whole or
// not at all.
//
// What can hurt: recorded text is written by strangers. Everything recorded
// goes through Clean, so that no body, name or attribute can forge a row or
// steer a terminal; the words themselves stay what they are, data.
//
// The functions are pure: they take values and return text, know no protocol
// and no clock. Which tool a question came from, and how an answer is wrapped,
// is left to the faces that use this package.
package answer

// Package edit tells how much two names differ, for answers that propose the
// nearest right one: settings, arguments of tools, names that were recorded.
package edit

import "strings"

// maxRunes is how much of a name is compared: the cost is the product of both
// lengths, and one of them may come from a stranger.
const maxRunes = 100

// Distance returns how many characters to insert, delete or replace to get from
// a to b (Levenshtein), whatever their case. Of names longer than 100 characters
// it compares the first 100.
func Distance(a, b string) int {
	x, y := runes(a), runes(b)
	row := make([]int, len(y)+1) // the distances of the start of x to all starts of y
	for j := range row {
		row[j] = j
	}
	for i, p := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range y {
			replace := diagonal
			if p != q {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(y)]
}

func runes(s string) []rune {
	// No character is shorter than a byte, so nothing within the bound is lost.
	s = strings.ToLower(s[:min(len(s), 4*maxRunes)])
	r := []rune(s)
	return r[:min(len(r), maxRunes)]
}

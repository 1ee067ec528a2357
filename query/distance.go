package query

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxDistanceRunes is how much of a name is compared: the cost is the product
// of both lengths, and a name may come from a stranger.
const maxDistanceRunes = 100

// Distance returns how many characters to insert, delete or replace to get from
// a to b (Levenshtein), whatever their case: for answers that propose the
// nearest right name. Of names longer than 100 characters it compares the first
// 100.
func Distance(a, b string) int {
	return levenshtein.ComputeDistance(firstRunes(a), firstRunes(b))
}

func firstRunes(s string) string {
	// No character is shorter than a byte, so nothing within the bound is lost.
	r := []rune(strings.ToLower(s[:min(len(s), 4*maxDistanceRunes)]))
	return string(r[:min(len(r), maxDistanceRunes)])
}

package accounts

import (
	"testing"
	"time"
)

// A token used again while its last use is being written stays pending.
func TestUseDuringAWrite(t *testing.T) {
	var u uses
	first, second := time.Unix(60, 0), time.Unix(120, 0)
	u.add("a", first)
	u.add("b", first)
	written := u.snapshot()
	u.add("a", second)
	u.forget(written)
	got := u.snapshot()
	if len(got) != 1 || !got["a"].Equal(second) {
		t.Errorf("pending = %v, want a at %v", got, second)
	}
}
